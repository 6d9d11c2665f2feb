#!/bin/bash
# Apache Qpid Broker-J, Derby store; queues are created on first use.
NAME=brokerj
USERINFO=guest:guest
CAN_TLS=yes
VERSION=${BROKERJ_VERSION:-9.2.0}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() {
	use_java
	maven_unpack "org.apache.qpid:apache-qpid-broker-j:$VERSION"
}

configure() {
	# The virtual host's own configuration is a JSON text inside the JSON.
	local queues='{\"pattern\": \".*\", \"createdOnPublish\": \"true\", \"createdOnConsume\": \"true\", \"nodeType\": \"queue\", \"attributes\": {}}'
	local aliases='"virtualhostaliases": [{"name": "defaultAlias", "type": "defaultAlias"}, {"name": "hostnameAlias", "type": "hostnameAlias"}]'
	local stores="" port="" beat="${HEARTBEAT:+\"context\": {\"qpid.port.heartbeatDelay\": \"$HEARTBEAT\"\},}"
	if [ -n "${TLS:-}" ]; then
		use_java
		pkcs12
		stores="\"keystores\": [{\"name\": \"server\", \"type\": \"FileKeyStore\", \"storeUrl\": \"$RUN/server.p12\", \"keyStoreType\": \"PKCS12\", \"password\": \"perfperf\"}],"
		port=", {\"name\": \"amqps\", $beat \"port\": \"$TLS_PORT\", \"bindingAddress\": \"127.0.0.1\", \"authenticationProvider\": \"plain\", $aliases, \"transports\": [\"SSL\"], \"keyStore\": \"server\"}"
	fi
	cat >config.json <<-END
		{
		  "name": "perf", "modelVersion": "9.0",
		  $stores
		  "authenticationproviders": [
		    {"name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
		     "users": [{"name": "guest", "type": "managed", "password": "guest"}]}
		  ],
		  "ports": [
		    {"name": "amqp", $beat "port": "$PORT", "bindingAddress": "127.0.0.1", "authenticationProvider": "plain", $aliases}$port
		  ],
		  "virtualhostnodes": [
		    {"name": "default", "type": "JSON", "defaultVirtualHostNode": "true",
		     "virtualHostInitialConfiguration": "{\"type\": \"DERBY\", \"nodeAutoCreationPolicies\": [$queues]}"}
		  ]
		}
	END
}

# The port opens some seconds before the virtual host.
ready() { grep -q BRK-1004 "$LOG" && listening "$PORT"; }

launch() {
	use_java
	export QPID_WORK=$RUN/work QPID_JAVA_MEM="-Xmx2G -XX:MaxDirectMemorySize=1536m" PATH=$JAVA_HOME/bin:$PATH
	exec "$STATE/dist-$VERSION/qpid-broker/$VERSION/bin/qpid-server" -icp "$RUN/config.json"
}

main "$@"
