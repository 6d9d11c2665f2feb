// Package brokertest runs the commands against a real broker, as processes that can be killed. Its tests run only with
// PERF_TEST_BROKER=rabbitmq|artemis|activemq|brokerj|proton, which they start through scripts/brokers/NAME.sh as the instance
// PERF_TEST_INSTANCE ("test"), or with PERF_TEST_AMQP_URL, the URL of one that runs. `make broker-test BROKER=NAME` sets that
// and takes a skipped test for a failure.
package brokertest
