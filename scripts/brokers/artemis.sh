#!/bin/bash
# Apache ActiveMQ Artemis, core and AMQP on one port; addresses and queues are created on first
# use. DURABLE_TUNE=1 measures the disk to set the journal's flush interval (else 3.3 ms). ARTEMIS_EDIT is a sed script for
# broker.xml, JAVA_ARGS_APPEND are options of the JVM.
NAME=artemis
USERINFO=artemis:artemis
VERSION=${ARTEMIS_VERSION:-2.40.0}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() {
	use_java
	maven_unpack "org.apache.activemq:apache-artemis:$VERSION"
}

configure() {
	use_java
	local options=(--silent --user artemis --password artemis --allow-anonymous --nio
		--host 127.0.0.1 --default-port "$PORT" --no-web --no-amqp-acceptor
		--no-mqtt-acceptor --no-stomp-acceptor --no-hornetq-acceptor)
	[ -n "${DURABLE_TUNE:-}" ] || options+=(--no-autotune)
	quiet "$STATE/dist-$VERSION/apache-artemis-$VERSION/bin/artemis" create "$RUN/broker" "${options[@]}"
	[ -z "${ARTEMIS_EDIT:-}" ] || sed -i -e "$ARTEMIS_EDIT" "$RUN/broker/etc/broker.xml"
}

launch() {
	use_java
	exec "$RUN/broker/bin/artemis" run
}

main "$@"
