# shellcheck shell=bash
# Shared by the broker scripts. Each sets NAME and USERINFO, defines install (once per machine),
# configure (files of one instance; the working folder is the empty $RUN) and launch (execs the broker in the
# foreground, in $RUN), and ends with: main "$@".
#
# Environment: PORT (default: a free one), INSTANCE (default "default"; several instances of a
# broker can run side by side), START_TIMEOUT in seconds.
set -euo pipefail

STATE=${XDG_CACHE_HOME:-$HOME/.cache}/amqpperf/brokers/$NAME
RUN=$STATE/run-${INSTANCE:-default}
PIDFILE=$RUN.pid
PORTFILE=$RUN.port
LOG=$RUN.log
START_TIMEOUT=${START_TIMEOUT:-120}

die() {
	echo "$NAME: $*" >&2
	exit 1
}

# quiet COMMAND... runs it with its output in a file that is shown only if it fails.
quiet() {
	"$@" >>"$STATE/install.log" 2>&1 || {
		tail -n 20 "$STATE/install.log" >&2
		die "failed: $* (all of it in $STATE/install.log)"
	}
}

# apt_install PACKAGE... installs the Debian packages that are missing and starts no service.
apt_install() {
	dpkg -s "$@" >/dev/null 2>&1 && return
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	quiet $sudo apt-get -o DPkg::Lock::Timeout=300 update -qq
	quiet $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
		apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@"
}

# use_java exports a JAVA_HOME with Java 17: all the brokers here run on it, newer ones break some.
use_java() {
	local home
	for home in "${JAVA_HOME:-}" /usr/lib/jvm/*17*; do
		if grep -qs '^JAVA_VERSION="17\.' "$home/release" && [ -x "$home/bin/java" ]; then
			export JAVA_HOME=$home
			return
		fi
	done
	[ -z "${java_tried:-}" ] || die "no Java 17 found, set JAVA_HOME"
	java_tried=1
	apt_install openjdk-17-jre-headless
	use_java
}

# maven_unpack GROUP:ARTIFACT:VERSION unpacks a binary distribution once, into $STATE/dist-VERSION.
maven_unpack() {
	local dir=$STATE/dist-${1##*:}
	[ -d "$dir" ] && return
	command -v mvn >/dev/null || apt_install maven
	rm -rf "$dir.tmp"
	mkdir "$dir.tmp"
	quiet mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
		-Dartifact="$1:tar.gz:bin" -DoutputDirectory="$dir.tmp"
	tar xf "$dir.tmp"/*.tar.gz -C "$dir.tmp"
	rm "$dir.tmp"/*.tar.gz
	mv "$dir.tmp" "$dir"
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port prints a port below the range of outgoing connections that nobody listens on.
free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		listening "$port" || break
	done
	echo "$port"
}

running() { [ -s "$PIDFILE" ] && kill -0 "$(<"$PIDFILE")" 2>/dev/null; }

# ready may be redefined where an open port is not enough.
ready() { listening "$PORT"; }

url() {
	running || die "not running"
	echo "amqp://${USERINFO:+$USERINFO@}127.0.0.1:$(<"$PORTFILE")"
}

start() {
	if running; then
		echo "$NAME: already running" >&2
		url
		return
	fi
	mkdir -p "$STATE"
	# The lock keeps two starters from installing at once; the broker must not inherit it.
	(
		flock 9
		install
	) 9>"$STATE/lock"
	export PORT=${PORT:-$(free_port)}
	if listening "$PORT"; then die "port $PORT is taken"; fi
	rm -rf "$RUN"
	mkdir "$RUN"
	echo "$PORT" >"$PORTFILE"
	(cd "$RUN" && configure)
	(trap '' HUP && exec setsid "$0" launch) </dev/null >"$LOG" 2>&1 &
	echo $! >"$PIDFILE"
	local i
	for ((i = 0; i < START_TIMEOUT * 10; i++)); do
		if ready; then
			url
			return
		fi
		if ! running; then
			tail -n 20 "$LOG" >&2
			die "exited while starting, see $LOG"
		fi
		sleep 0.1
	done
	stop
	die "not ready after $START_TIMEOUT s, see $LOG"
}

# stop ends the whole process group of the broker, gently for 20 s, and removes its data.
stop() {
	running || return 0
	local group i
	group=-$(<"$PIDFILE")
	PORT=$(<"$PORTFILE")
	kill -- "$group"
	for ((i = 0; i < 200; i++)); do
		kill -0 -- "$group" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 -- "$group" 2>/dev/null || true
	stopped
	rm -rf "$RUN" "$PIDFILE" "$PORTFILE"
}

# stopped may be redefined to clean up what the process group does not contain.
stopped() { :; }

main() {
	case ${1:-} in
	start | stop | url) "$1" ;;
	launch) cd "$RUN" && launch ;;
	*) die "usage: [PORT=N] [INSTANCE=NAME] ${0##*/} start|stop|url" ;;
	esac
}
