#!/bin/bash
# soak.sh TIME loads perf-broker at RATE (5k) for TIME (1h, 90s: a number and s, m or h) and samples the resident memory of
# the three programs. It fails if a program failed, a message was lost, or memory in the last quarter of the run is above
# that of the second quarter by more than half and 32 MiB. The commands must be in PATH (make soak).
set -euo pipefail
time=$1
case $time in
*h) seconds=$((${time%h} * 3600)) ;;
*m) seconds=$((${time%m} * 60)) ;;
*) seconds=${time%s} ;;
esac
out=$(mktemp -d)
pids=()
finish() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait || true
	rm -rf "$out"
}
trap finish EXIT

perf-broker --listen 127.0.0.1:0 --ready-file "$out/ready" &
pids+=($!)
until [ -e "$out/ready" ]; do kill -0 "${pids[0]}" && sleep 0.1; done
AMQP_URL=$(head -n 1 "$out/ready")
export AMQP_URL
perf-recv -q -o "$out/recv.parquet" --idle 5s --wait 60s queue://soak &
pids+=($!)
perf-send -q -o "$out/send.parquet" -r "${RATE:-5k}" -d "${seconds}s" queue://soak &
pids+=($!)

# rss PID prints resident KiB, nothing for a program that has ended.
rss() { awk '/^VmRSS:/ {print $2}' "/proc/$1/status" 2>/dev/null || true; }

names=(perf-broker perf-recv perf-send)
step=$((seconds / 100 > 1 ? seconds / 100 : 1))
for ((at = 0; at < seconds; at += step)); do
	sleep "$step"
	for i in 0 1 2; do rss "${pids[i]}" | sed "s/^/$at ${names[i]} /" >>"$out/rss"; done
done
wait "${pids[2]}"
wait "${pids[1]}"

awk -v end="$seconds" '
	{ if (!($2 in early)) early[$2] = late[$2] = 0 }
	$1 >= end / 4 && $1 < end / 2 && $3 > early[$2] { early[$2] = $3 }
	$1 >= end * 3 / 4 && $3 > late[$2] { late[$2] = $3 }
	END {
		for (name in early) {
			printf "%-12s %8d KiB in the second quarter, %8d KiB in the last\n", name, early[name], late[name]
			if (late[name] > early[name] * 1.5 && late[name] > early[name] + 32768) grew = 1
		}
		exit grew
	}' "$out/rss" || { echo "soak.sh: memory grows" >&2; exit 1; }
perf-report -f json "$out/send.parquet" "$out/recv.parquet" >"$out/report.json"
grep -Eq '"lost": *0\b' "$out/report.json" || { echo "soak.sh: messages were lost" >&2; exit 1; }
perf-report "$out/send.parquet" "$out/recv.parquet"
