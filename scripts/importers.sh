#!/bin/bash
# importers.sh PACKAGE prints the packages of the module whose tests import PACKAGE, and PACKAGE itself.
set -euo pipefail
go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... |
	awk -v want="$1" '{for (i = 1; i <= NF; i++) if ($i == want) {print $1; next}}'
