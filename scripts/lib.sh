# shellcheck shell=bash
# Shared by the scripts that install what tests need. Everything goes below $CACHE, so that a second run is quick.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/amqpperf

# die MESSAGE ends the script.
die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# quiet COMMAND... shows the output of a command only if it fails.
quiet() {
	local out
	out=$("$@" 2>&1) || {
		tail -n 40 <<<"$out" >&2
		die "failed: $*"
	}
}

# apt_install PACKAGE... installs the Debian packages that are missing and starts no service.
apt_install() {
	dpkg -s "$@" >/dev/null 2>&1 && return
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	quiet $sudo apt-get -o DPkg::Lock::Timeout=300 update -qq
	quiet $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
		apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@"
}

# use_java exports a JAVA_HOME with Java 17: all the brokers here run on it, newer ones break some.
use_java() {
	local home
	for home in "${JAVA_HOME:-}" /usr/lib/jvm/*17*; do
		if grep -qs '^JAVA_VERSION="17\.' "$home/release" && [ -x "$home/bin/java" ]; then
			export JAVA_HOME=$home
			return
		fi
	done
	[ -z "${java_tried:-}" ] || die "no Java 17 found, set JAVA_HOME"
	java_tried=1
	apt_install openjdk-17-jre-headless
	use_java
}

# maven_get ARTIFACT FOLDER copies one artifact of Maven Central, without what it depends on.
maven_get() {
	command -v mvn >/dev/null || apt_install maven
	quiet mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$1" -DoutputDirectory="$2"
}

# tested PACKAGE... runs their Go tests aloud and fails also if one was skipped or none ran.
tested() {
	local log
	log=$(mktemp)
	if ! go test -count=1 -v -timeout 20m "$@" 2>&1 | tee "$log"; then
		rm -f "$log"
		return 1
	fi
	if grep -E '^ *--- SKIP' "$log" >&2 || ! grep -q '^--- PASS' "$log"; then
		rm -f "$log"
		echo "a test was skipped, or none ran" >&2
		return 1
	fi
	rm -f "$log"
}
