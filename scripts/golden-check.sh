#!/bin/bash
# golden-check.sh writes all golden files anew, in a copy of the tree that has none, and fails if they differ from those of
# the tree: a changed file, one that no test writes any more, one that was never committed.
set -euo pipefail
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard -z | while IFS= read -rd '' file; do
	if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | xargs -0 cp --parents -t "$copy"
find "$copy" -name '*.golden' -delete
mapfile -t packages < <(scripts/importers.sh amqpperf/internal/dev/golden)
# The scripts of e2e have what they compare with inside, and take long: the race stage runs them.
(cd "$copy" && go test -count=1 -skip '^TestScripts$' "${packages[@]}" -update >"$copy.log" 2>&1) || { cat "$copy.log"; rm -f "$copy.log"; exit 1; }
rm -f "$copy.log"
list() { (cd "$1" && find . -path ./.git -prune -o -name '*.golden' -print | sort); }
status=0
diff <(list .) <(list "$copy") || status=1
while read -r file; do
	[ ! -e "$copy/$file" ] || diff -u "$file" "$copy/$file" || status=1
done < <(list .)
[ "$status" = 0 ] || echo "golden files are not what the tests write: run make golden, delete the unused ones, look at the difference" >&2
exit "$status"
