#!/bin/bash
# Apache ActiveMQ Classic, AMQP only; queues are created on first use, topics are topic://NAME. Anybody may do anything.
NAME=activemq
USERINFO=
CAN_TLS=yes
VERSION=${ACTIVEMQ_VERSION:-5.18.3}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() {
	use_java
	maven_unpack "org.apache.activemq:apache-activemq:$VERSION"
}

configure() {
	use_java
	local options="maximumConnections=5000${HEARTBEAT:+&amp;transport.wireFormat.idleTimeout=${HEARTBEAT}000}" context="" connector=""
	if [ -n "${TLS:-}" ]; then
		pkcs12
		context="<sslContext><sslContext keyStore=\"file:$RUN/server.p12\" keyStoreType=\"PKCS12\" keyStorePassword=\"perfperf\" trustStore=\"file:$RUN/ca.p12\" trustStoreType=\"PKCS12\" trustStorePassword=\"perfperf\"/></sslContext>"
		# amqp+nio+ssl reads a frame wrongly now and then: "Range [37, 37 + -37) out of bounds for length 37".
		connector="<transportConnector name=\"amqps\" uri=\"amqp+ssl://127.0.0.1:$TLS_PORT?$options\"/>"
	fi
	cat >activemq.xml <<-END
		<beans xmlns="http://www.springframework.org/schema/beans"
		  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
		  xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
		  http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
		  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="perf" useJmx="false" dataDirectory="$RUN/data">
		    <persistenceAdapter><kahaDB directory="$RUN/data/kahadb"/></persistenceAdapter>
		    $context
		    <transportConnectors>
		      <transportConnector name="amqp" uri="amqp+nio://127.0.0.1:$PORT?$options"/>
		      $connector
		    </transportConnectors>
		  </broker>
		</beans>
	END
}

launch() {
	use_java
	local home=$STATE/dist-$VERSION/apache-activemq-$VERSION
	mkdir -p data
	exec "$JAVA_HOME/bin/java" -Xmx2G -Dactivemq.home="$home" -Dactivemq.base="$home" \
		-Dactivemq.conf="$home/conf" -Dactivemq.data="$RUN/data" -Djava.io.tmpdir="$RUN/data" \
		-jar "$home/bin/activemq.jar" start "xbean:file:$RUN/activemq.xml"
}

main "$@"
