#!/bin/bash
# Apache ActiveMQ Artemis, core and AMQP on one port; addresses and queues are created on first
# use. DURABLE_TUNE=1 measures the disk to set the journal's flush interval (else 3.3 ms). ARTEMIS_EDIT is a sed script for
# broker.xml, JAVA_ARGS_APPEND are options of the JVM. An address perf.block.# that has 100 kB gives no more credit.
# With TLS, a client with a certificate for the common name "perf" may log in with that, one without by its password.
NAME=artemis
USERINFO=artemis:artemis
CAN_TLS=yes
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
	local etc=$RUN/broker/etc
	sed -i -e 's|<address-settings>|&<address-setting match="perf.block.#"><max-size-bytes>100000</max-size-bytes><address-full-policy>BLOCK</address-full-policy></address-setting>|' \
		-e "/<acceptor name=\"artemis\"/s|;*</acceptor>|${HEARTBEAT:+;amqpIdleTimeout=${HEARTBEAT}000}&|" "$etc/broker.xml"
	[ -z "${TLS:-}" ] || configure_tls "$etc"
	[ -z "${ARTEMIS_EDIT:-}" ] || sed -i -e "$ARTEMIS_EDIT" "$RUN/broker/etc/broker.xml"
}

# configure_tls ETC adds an acceptor and its users.
configure_tls() {
	pkcs12
	local stores="keyStorePath=$RUN/server.p12;keyStoreType=PKCS12;keyStorePassword=perfperf;trustStorePath=$RUN/ca.p12;trustStoreType=PKCS12;trustStorePassword=perfperf"
	local acceptor="tcp://127.0.0.1:$TLS_PORT?protocols=AMQP;sslEnabled=true;wantClientAuth=true;$stores;saslMechanisms=EXTERNAL,PLAIN;securityDomain=perf-tls;amqpCredits=1000;amqpLowCredits=300${HEARTBEAT:+;amqpIdleTimeout=${HEARTBEAT}000}"
	sed -i -e "s|</acceptors>|<acceptor name=\"tls\">$acceptor</acceptor>&|" "$1/broker.xml"
	local modules=org.apache.activemq.artemis.spi.core.security.jaas jaas=org.apache.activemq.jaas
	cat >>"$1/login.config" <<-END
		perf-tls {
		   $modules.TextFileCertificateLoginModule sufficient
		       $jaas.textfiledn.user="cert-users.properties" $jaas.textfiledn.role="cert-roles.properties";
		   $modules.PropertiesLoginModule sufficient
		       $jaas.properties.user="artemis-users.properties" $jaas.properties.role="artemis-roles.properties";
		};
	END
	echo 'perf=CN=perf' >"$1/cert-users.properties"
	echo 'amq=perf' >"$1/cert-roles.properties"
}

launch() {
	use_java
	exec "$RUN/broker/bin/artemis" run
}

delete_queue() {
	use_java
	quiet "$RUN/broker/bin/artemis" queue delete --silent --name "$1" --removeConsumers --user artemis --password artemis --url "tcp://127.0.0.1:$(<"$PORTFILE")"
}

main "$@"
