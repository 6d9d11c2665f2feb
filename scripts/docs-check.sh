#!/bin/bash
# docs-check.sh generates the documentation into a copy of docs/ and fails if it differs: a page out of date, or one of a
# command that is gone.
set -euo pipefail
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r docs/. "$copy"
rm -rf "$copy/man" "$copy/completions"
go run ./internal/dev/gendocs "$copy"
diff -ru docs "$copy" || { echo "docs/ is not what the commands say: run make docs" >&2; exit 1; }
