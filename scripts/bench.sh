#!/bin/bash
# bench.sh [BASE] runs all benchmarks six times into bench-out/COMMIT.txt and, with BASE, compares.
set -euo pipefail
mkdir -p bench-out
out=bench-out/$(git describe --always --dirty).txt
go test -run '^$' -bench . -benchmem -count 6 ./... | tee "$out"
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "${1:-$out}" ${1:+"$out"}
