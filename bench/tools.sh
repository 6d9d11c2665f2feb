#!/bin/bash
# tools.sh artemis|perftest|proton installs one of the tools we are compared with, once per machine, and prints the folder
# in which bench/peers finds it: artemis has bin/artemis, perftest is a folder of jars, proton has send, receive, send-1k
# and receive-1k.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../scripts/lib.sh
. scripts/lib.sh
PERFTEST_VERSION=${PERFTEST_VERSION:-2.22.1}
EXAMPLES=/usr/share/proton/examples/c

artemis() {
	local homes=("$CACHE"/brokers/artemis/dist-*/apache-artemis-*)
	if [ ! -x "${homes[-1]}/bin/artemis" ]; then
		INSTANCE=unpack scripts/brokers/artemis.sh start >&2
		INSTANCE=unpack scripts/brokers/artemis.sh stop >&2
		homes=("$CACHE"/brokers/artemis/dist-*/apache-artemis-*)
	fi
	echo "${homes[-1]}"
}

perftest() {
	local dir=$CACHE/bench/perftest-$PERFTEST_VERSION
	if [ ! -d "$dir" ]; then
		command -v mvn >/dev/null || apt_install maven
		rm -rf "$dir.tmp"
		mkdir -p "$dir.tmp"
		cat >"$dir.tmp/pom.xml" <<-END
			<project>
			  <modelVersion>4.0.0</modelVersion><groupId>bench</groupId><artifactId>bench</artifactId><version>1</version>
			  <dependencies><dependency>
			    <groupId>com.rabbitmq</groupId><artifactId>perf-test</artifactId><version>$PERFTEST_VERSION</version>
			  </dependency></dependencies>
			</project>
		END
		quiet mvn -q -B -f "$dir.tmp/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
			-DoutputDirectory="$dir.tmp" -DincludeScope=runtime
		mv "$dir.tmp" "$dir"
	fi
	echo "$dir"
}

# body_1k rewrites the examples for bodies of 1,024 bytes: send puts a binary where the small map was, receive decodes the
# message as before but does not print it (printing a body of 1 KiB would be most of its work).
body_1k() {
	sed -e '/pn_data_put_map(body);/,/pn_data_exit(body);/d' \
		-e 's/^\(  body = pn_message_body(app->message);\)$/\1\n  { static char payload[1024]; pn_data_put_binary(body, pn_bytes(sizeof payload, payload)); }/' \
		"$EXAMPLES/send.c" >send-1k.c
	sed -e '/pn_inspect(pn_message_body(m), s);/d' -e '/printf("%s\\n", pn_string_get(s));/d' "$EXAMPLES/receive.c" >receive-1k.c
	if ! grep -q 'payload\[1024\]' send-1k.c || grep -q pn_data_put_map send-1k.c || grep -q pn_inspect receive-1k.c; then
		die "the examples of Proton C are not the ones this script knows how to change"
	fi
}

proton() {
	local dir=$CACHE/bench/proton program
	if [ ! -d "$dir" ]; then
		apt_install gcc libc6-dev libqpid-proton11-dev libqpid-proton11-dev-examples
		local libraries=(/usr/lib/*/libqpid-proton-core.so.10 /usr/lib/*/libqpid-proton-proactor.so.1)
		rm -rf "$dir.tmp"
		mkdir -p "$dir.tmp"
		(
			cd "$dir.tmp"
			cp "$EXAMPLES/send.c" "$EXAMPLES/receive.c" .
			body_1k
			for program in send receive send-1k receive-1k; do
				quiet gcc -O2 -w -o "$program" "$program.c" "${libraries[@]}" -lpthread
			done
		)
		mv "$dir.tmp" "$dir"
	fi
	echo "$dir"
}

case ${1:-} in
artemis | perftest | proton) "$1" ;;
*) die "usage: tools.sh artemis|perftest|proton" ;;
esac
