#!/bin/bash
# interop.sh installs the other programs that read our files and speak our protocol, and runs internal/dev/interop with them:
# Java's HistogramLogProcessor, hdr-histogram-js, DuckDB, pyarrow, Qpid Proton's Python binding and Wireshark's dissector. The versions here are
# the only ones that are tested; a second run installs nothing.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

HDR=org.hdrhistogram:HdrHistogram:2.2.2
HDR_JS=hdr-histogram-js@3.0.1
PYTHON_PACKAGES=(duckdb==1.4.4 pyarrow==22.0.0)

dir=$CACHE/interop
mkdir -p "$dir"

apt_install python3 python3-venv python3-qpid-proton tshark
use_java

jar=$dir/HdrHistogram-${HDR##*:}.jar
if [ ! -s "$jar" ]; then
	maven_get "$HDR" "$dir"
fi

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then apt_install nodejs npm; fi
js=$dir/js
if [ "$(cat "$js/wanted" 2>/dev/null)" != "$HDR_JS" ]; then
	rm -rf "$js"
	mkdir -p "$js"
	quiet npm install --prefix "$js" --no-save --no-audit --no-fund --ignore-scripts "$HDR_JS"
	echo "$HDR_JS" >"$js/wanted"
fi

# Debian's own Python, since Debian's python3-qpid-proton is built for no other.
venv=$dir/venv
wanted=${PYTHON_PACKAGES[*]}
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
	rm -rf "$venv"
	quiet /usr/bin/python3 -m venv --system-site-packages "$venv"
	quiet "$venv/bin/pip" install --quiet "${PYTHON_PACKAGES[@]}"
	echo "$wanted" >"$venv/wanted"
fi
quiet "$venv/bin/python" -c 'import duckdb, proton, pyarrow'

if [ "${1:-}" = install ]; then exit; fi
PERF_TEST_TSHARK=$(command -v tshark) PERF_TEST_PYTHON=$venv/bin/python PERF_TEST_JAVA=$JAVA_HOME/bin/java PERF_TEST_HDR_JAR=$jar \
	PERF_TEST_NODE=$(command -v node) PERF_TEST_HDR_JS=$js/node_modules/hdr-histogram-js tested ./internal/dev/interop/
