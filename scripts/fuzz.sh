#!/bin/bash
# fuzz.sh TIME [PATTERN] runs every fuzz target of the module for TIME (10s, or a number of seconds), as many at once as there are
# processors, one worker each; all are run, and any failure fails. With PATTERN only those whose package and name match it
# (extended regular expression). A target that fails is shown in full; its input is in testdata/fuzz of its package.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
time=${1:?fuzz.sh TIME [PATTERN]}
[[ $time == *[smhx] ]] || time=${time}s
pattern=${2:-}

targets() {
	local directory package name
	while read -r package directory; do
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$directory"/*_test.go 2>/dev/null | while read -r name; do
			echo "$package $name"
		done
	done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
}

# one TIME PACKAGE TARGET. Minimizing an input that found something new would take up to a minute of the time.
one() {
	local out
	if out=$(go test -run '^$' -fuzz "^$3\$" -fuzztime "$1" -fuzzminimizetime 20x -parallel 1 "$2" 2>&1); then
		echo "ok    $2 $3: $(sed -n 's/.*execs: \([0-9]*\).*new interesting: \(.*\)/\1 inputs, \2 of them interesting/p' <<<"$out" | tail -n 1)"
	elif grep -q 'context deadline exceeded' <<<"$out" && ! grep -qE 'Failing input|panic|hung or terminated' <<<"$out"; then
		echo "ok    $2 $3: the time was over while an input ran, which Go's fuzzing calls a failure without having an input that fails"
	else
		echo "FAIL  $2 $3"
		awk '{print "      " $0}' <<<"$out"
		return 1
	fi
}
export -f one

list=$(targets | grep -E "$pattern")
[ -n "$list" ] || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }
echo "$(wc -l <<<"$list") targets, $time each, $(nproc) at once"
xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one "$time" <<<"$list"
