#!/bin/bash
# fuzz.sh TIME runs every fuzz target of the module for TIME, one after the other; all are run, and any failure fails.
set -uo pipefail
status=0 found=0
while read -r package directory; do
	# shellcheck disable=SC2013 # names of functions have no spaces
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$directory"/*_test.go 2>/dev/null); do
		found=$((found + 1))
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package" || status=1
	done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
[ "$found" -gt 0 ] || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }
exit "$status"
