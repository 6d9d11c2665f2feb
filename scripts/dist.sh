#!/bin/bash
# dist.sh VERSION LDFLAGS "COMMANDS" OS/ARCH... builds static archives with documentation into dist/, and SHA256SUMS.
# The same commit and Go give the same bytes.
set -euo pipefail
version=$1 ldflags=$2 commands=$3
shift 3
rm -rf dist
mkdir dist
time=$(git log -1 --format=%ct)
for platform; do
	name=amqpperf-$version-${platform/\//-}
	mkdir -p "dist/$name"
	# shellcheck disable=SC2086
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} \
		go build -trimpath -ldflags "-s -w $ldflags" -o "dist/$name/" ${commands//perf-/.\/cmd\/perf-}
	cp -r LICENSE README.md CHANGELOG.md docs/man docs/completions "dist/$name/"
	tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -c "$name" | gzip -n9 >"dist/$name.tar.gz"
	rm -r "dist/$name"
done
cd dist && sha256sum -- *.tar.gz | tee SHA256SUMS
