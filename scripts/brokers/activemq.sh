#!/bin/bash
# Apache ActiveMQ Classic, AMQP only; queues are created on first use, topics are topic://NAME.
NAME=activemq
USERINFO=
VERSION=${ACTIVEMQ_VERSION:-5.18.3}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() {
	use_java
	maven_unpack "org.apache.activemq:apache-activemq:$VERSION"
}

configure() {
	cat >activemq.xml <<-END
		<beans xmlns="http://www.springframework.org/schema/beans"
		  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
		  xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
		  http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
		  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="perf" useJmx="false" dataDirectory="$RUN/data">
		    <persistenceAdapter><kahaDB directory="$RUN/data/kahadb"/></persistenceAdapter>
		    <transportConnectors>
		      <transportConnector name="amqp" uri="amqp+nio://127.0.0.1:$PORT?maximumConnections=5000"/>
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
