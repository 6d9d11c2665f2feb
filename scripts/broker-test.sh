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
status=0
for broker; do
	echo "== $broker"
	PERF_TEST_BROKER=$broker tested "${which[@]}" ./internal/dev/brokertest/ || status=1
done
exit "$status"
