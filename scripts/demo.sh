#!/bin/bash
# demo.sh runs the whole pipeline once and prints each command: load, merge, report. It uses the broker of AMQP_URL, or
# starts perf-broker, and leaves the logs, an HDR log and pictures in the folder it names. The commands must be in PATH
# (make demo). RATE, DURATION, ADDRESS and OUT change the run.
set -euo pipefail
rate=${RATE:-2k} duration=${DURATION:-10s} address=${ADDRESS:-queue://demo}
out=${OUT:-demo-out/$(date +%Y%m%dT%H%M%S)}
mkdir -p "$out"

broker='' receiver=''
finish() {
	local pid
	for pid in $receiver $broker; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
}
trap finish EXIT

# show COMMAND... prints a command as one would type it, then runs it.
show() {
	printf '\n$ %s\n' "$*" >&2
	"$@"
}

# background COMMAND... does that beside the script and leaves the process in $pid.
background() {
	printf '\n$ %s &\n' "$*" >&2
	"$@" &
	pid=$!
}

# appears FILE PID waits until a program has made a file, or fails with the program.
appears() {
	while [ ! -e "$1" ]; do
		kill -0 "$2" 2>/dev/null || { echo "demo.sh: the program that was to make $1 ended" >&2; exit 1; }
		sleep 0.1
	done
}

if [ -z "${AMQP_URL:-}" ]; then
	background perf-broker -q --listen 127.0.0.1:0 --ready-file "$out/broker.ready"
	broker=$pid
	appears "$out/broker.ready" "$broker"
	AMQP_URL=$(head -n 1 "$out/broker.ready")
	rm -f "$out/broker.ready"
fi
export AMQP_URL

PERF_RUN=$(</proc/sys/kernel/random/uuid)
export PERF_RUN
background perf-recv -q -o "$out/recv.parquet" --idle 3s --wait 60s --ready-file "$out/recv.ready" "$address"
receiver=$pid
appears "$out/recv.ready" "$receiver"
show perf-send -o "$out/send.parquet" -r "$rate" -d "$duration" --warmup 2s --name demo "$address"
wait "$receiver"
receiver=''
show perf-merge -o "$out/merged.parquet" "$out/send.parquet" "$out/recv.parquet"
show perf-report --hlog "$out/run.hlog" --png "$out/plots" "$out/merged.parquet" | tee "$out/report.txt"

printf '\nIn %s:\n' "$out"
(cd "$out" && find . -type f | sed 's|^\./|  |' | sort)
