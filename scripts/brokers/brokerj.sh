#!/bin/bash
# Apache Qpid Broker-J, Derby store; queues are created on first use.
NAME=brokerj
USERINFO=guest:guest
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
	cat >config.json <<-END
		{
		  "name": "perf", "modelVersion": "9.0",
		  "authenticationproviders": [
		    {"name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
		     "users": [{"name": "guest", "type": "managed", "password": "guest"}]}
		  ],
		  "ports": [
		    {"name": "amqp", "port": "$PORT", "bindingAddress": "127.0.0.1", "authenticationProvider": "plain",
		     "virtualhostaliases": [
		       {"name": "defaultAlias", "type": "defaultAlias"},
		       {"name": "hostnameAlias", "type": "hostnameAlias"}]}
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
