# shellcheck shell=bash
# Shared by the broker scripts. Each sets NAME and USERINFO, defines install (once per machine),
# configure (files of one instance; the working folder is the empty $RUN) and launch (execs the broker in the
# foreground, in $RUN), and ends with: main "$@".
#
# Environment: PORT (default: a free one), INSTANCE (default "default"; several instances of a
# broker can run side by side), START_TIMEOUT in seconds.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

STATE=$CACHE/brokers/$NAME
RUN=$STATE/run-${INSTANCE:-default}
PIDFILE=$RUN.pid
PORTFILE=$RUN.port
LOG=$RUN.log
START_TIMEOUT=${START_TIMEOUT:-120}

# maven_unpack GROUP:ARTIFACT:VERSION unpacks a binary distribution once, into $STATE/dist-VERSION.
maven_unpack() {
	local dir=$STATE/dist-${1##*:}
	[ -d "$dir" ] && return
	rm -rf "$dir.tmp"
	mkdir "$dir.tmp"
	maven_get "$1:tar.gz:bin" "$dir.tmp"
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

# identity PID prints a process's number and start time, which together name it for ever.
identity() { awk '{sub(/^.*\) /, ""); print pid, $20}' pid="$1" "/proc/$1/stat" 2>/dev/null; }

group() { cut -d' ' -f1 "$PIDFILE"; }

running() { [ -s "$PIDFILE" ] && [ "$(identity "$(group)")" = "$(<"$PIDFILE")" ]; }

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
	identity $! >"$PIDFILE"
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
	group=-$(group)
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
