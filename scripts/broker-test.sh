#!/bin/bash
# broker-test.sh BROKER... runs internal/dev/brokertest against each broker, which the tests start through scripts/brokers.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || die "usage: broker-test.sh rabbitmq|artemis|activemq|brokerj|proton..."
status=0
for broker; do
	echo "== $broker"
	PERF_TEST_BROKER=$broker tested ./internal/dev/brokertest/ || status=1
done
exit "$status"
