#!/bin/bash
# broker-test.sh BROKER... runs internal/dev/brokertest against each broker, which the tests start through scripts/brokers. With
# SOAK=1 it runs the long forms instead, which take some minutes each.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || die "usage: [SOAK=1] broker-test.sh rabbitmq|artemis|activemq|brokerj|proton..."
which=(-skip '^TestSoak')
[ -z "${SOAK:-}" ] || which=(-run '^TestSoak' -parallel 16)
[ -z "${SOAK:-}" ] || ulimit -n 8192
# All brokers at once, but for the long forms, which load them: most of the time goes into waiting. What the tests print is shown one
# broker after the other, when all have ended.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
declare -A running
for broker; do
	PERF_TEST_BROKER=$broker tested "${which[@]}" ./internal/dev/brokertest/ >"$out/$broker" 2>&1 &
	running[$broker]=$!
	[ -z "${SOAK:-}" ] || wait "${running[$broker]}" || true # its status is asked for below
done
status=0
for broker; do
	wait "${running[$broker]}" || status=1
	echo "== $broker"
	cat "$out/$broker"
done
exit "$status"
