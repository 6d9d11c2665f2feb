# shellcheck shell=bash
# Shared by the broker scripts. Each sets NAME and USERINFO, defines install (once per machine),
# configure (files of one instance; the working folder is the empty $RUN) and launch (execs the broker in the
# foreground, in $RUN), and ends with: main "$@".
#
# Environment: PORT (default: a free one), INSTANCE (default "default"; several instances of a
# broker can run side by side), START_TIMEOUT in seconds. With TLS=FOLDER, which has server.pem, server-key.pem and
# ca.pem, the broker listens with TLS too, at TLS_PORT (default: a free one). HEARTBEAT is after how many seconds of silence
# the broker gives a connection up (default: its own). The broker for which no script says so does without these two.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

STATE=$CACHE/brokers/$NAME
RUN=$STATE/run-${INSTANCE:-default}
PIDFILE=$RUN.pid
PORTFILE=$RUN.port
TLSPORTFILE=$RUN.tls-port
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
ready() { listening "$PORT" && { [ ! -s "$TLSPORTFILE" ] || listening "$(<"$TLSPORTFILE")"; }; }

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
	rm -rf "$RUN" "$TLSPORTFILE"
	mkdir "$RUN"
	echo "$PORT" >"$PORTFILE"
	if [ -n "${TLS:-}" ]; then
		[ -n "${CAN_TLS:-}" ] || die "$NAME: no TLS here"
		TLS_PORT=${TLS_PORT:-$(free_port)}
		echo "$TLS_PORT" >"$TLSPORTFILE"
	fi
	(cd "$RUN" && configure)
	run
}

# run launches the broker and waits until it is ready.
run() {
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

# end SIGNAL ends the whole process group of the broker, with SIGKILL after 20 s.
end() {
	local group i
	group=-$(group)
	kill "-$1" -- "$group"
	for ((i = 0; i < 200; i++)); do
		kill -0 -- "$group" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 -- "$group" 2>/dev/null || true
}

# stop ends the broker gently and removes its data, also those of one that was killed.
stop() {
	if running; then end TERM; fi
	[ -e "$PIDFILE" ] || return 0
	stopped
	rm -rf "$RUN" "$PIDFILE" "$PORTFILE" "$TLSPORTFILE"
}

# killed ends the broker as a power cut does, and leaves its data.
killed() {
	running || die "not running"
	end KILL
}

# restart starts a broker that was killed, with its data and its ports.
restart() {
	if running; then die "still running"; fi
	if [ ! -s "$PORTFILE" ] || [ ! -d "$RUN" ]; then die "no data of a broker that was killed"; fi
	PORT=$(<"$PORTFILE")
	export PORT
	run
}

# largest prints the process of the group that is the broker: some are started by a shell that waits for them.
largest() { ps -eo pgid=,rss=,pid= | awk -v group="$(group)" '$1 == group && $2 >= most {most = $2; pid = $3} END {print pid}'; }

# signalled SIGNAL is for the whole process group: STOP and CONT.
signalled() {
	running || die "not running"
	kill "-$1" -- "-$(group)"
}

# tls_url prints the URL of the port with TLS.
tls_url() {
	running || die "not running"
	[ -s "$TLSPORTFILE" ] || die "started without TLS"
	echo "amqps://${USERINFO:+$USERINFO@}127.0.0.1:$(<"$TLSPORTFILE")"
}

# pkcs12 writes the server's key and certificate, and the authorities, into two key stores for Java: server.p12, ca.p12.
pkcs12() {
	command -v openssl >/dev/null || apt_install openssl
	quiet openssl pkcs12 -export -in "$TLS/server.pem" -inkey "$TLS/server-key.pem" -name server -passout pass:perfperf -out server.p12
	quiet "$JAVA_HOME/bin/keytool" -importcert -noprompt -alias ca -file "$TLS/ca.pem" -keystore ca.p12 -storetype PKCS12 -storepass perfperf
}

# delete_queue NAME may be redefined where there is a command for it.
delete_queue() { die "$NAME: no command deletes a queue here"; }

# more may be redefined for what only one broker can do.
more() { die "$NAME: no $1 here"; }

# stopped may be redefined to clean up what the process group does not contain.
stopped() { :; }

main() {
	case ${1:-} in
	start | stop | url | restart) "$1" ;;
	tls-url) tls_url ;;
	pid)
		running || die "not running"
		largest
		;;
	kill) killed ;;
	pause) signalled STOP ;;
	resume) signalled CONT ;;
	launch) cd "$RUN" && launch ;;
	delete-queue)
		running || die "not running"
		delete_queue "${2:?name of the queue}"
		;;
	"") die "usage: [PORT=N] [INSTANCE=NAME] [TLS=FOLDER] ${0##*/} start|stop|url|tls-url|pid|kill|restart|pause|resume|delete-queue NAME" ;;
	*) more "$@" ;;
	esac
}
