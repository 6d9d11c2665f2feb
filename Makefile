# Developer commands; `make help` lists them. `make check` is what decides whether a change is good.

COMMANDS  := perf-send perf-recv perf-merge perf-report perf-broker perf-run
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS   := -X amqpperf/internal/cli.version=$(VERSION)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

# The first line of .golangci.yml is the one place that says which linter.
LINT_VERSION := $(shell sed -n '1s/.*golangci-lint \(v[0-9.]*\).*/\1/p' .golangci.yml)
LINT         := bin/golangci-lint-$(LINT_VERSION)

# Packages that start no goroutine (internal/dev/arch sees to that): the race detector finds nothing in them, and takes minutes.
SEQUENTIAL := internal/analysis/chart internal/analysis/checks internal/analysis/compare internal/analysis/report \
	internal/analysis/stats internal/command/perfreport

BROKER   ?= rabbitmq artemis
FUZZTIME ?= 30s
KILLS    ?= 20
SOAK     ?= 1h
AMQP_URL ?=

export GOFLAGS ?= -buildvcs=false

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build test race e2e lint fmt fmt-check vet fuzz golden golden-check docs docs-check bench bench-peers \
	broker-test interop crash soak demo dist check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

build: ## build the commands into bin/
	CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o bin/ $(COMMANDS:%=./cmd/%)

test: ## run the tests without the race detector
	go test ./...

race: ## run the tests, with the race detector (needs a C compiler) where goroutines can meet
	@command -v $$(go env CC) >/dev/null || { echo 'make race: the race detector needs a C compiler: install gcc' >&2; exit 1; }
	CGO_ENABLED=1 go test -race -timeout 15m $$(go list ./... | grep -vxF $(SEQUENTIAL:%=-e amqpperf/%))
	go test -timeout 15m $(SEQUENTIAL:%=./%)
	go -C bench test ./...

e2e: ## run the end-to-end scripts of all commands
	go test -count=1 ./internal/dev/e2e/

lint: $(LINT) ## run the linters
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv bin/golangci-lint $@

fmt: ## format the Go files
	@gofmt -l -w $$(git ls-files -co --exclude-standard '*.go')

fmt-check: ## fail if a Go file is not formatted
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')) && [ -z "$$out" ] || { echo "not formatted (make fmt): $$out" >&2; exit 1; }

vet: ## run go vet, also on the benchmark programs, which are a module of their own
	go vet ./...
	go -C bench vet ./...

fuzz: ## run every fuzz target for FUZZTIME (30s)
	scripts/fuzz.sh $(FUZZTIME)

golden: ## rewrite the golden files with what the tests get
	go test -count=1 $$(scripts/importers.sh amqpperf/internal/dev/golden) -update

golden-check: ## fail if make golden would change, add or leave unused a file
	scripts/golden-check.sh

docs: ## generate man pages, completions and tables of the documentation
	go run ./internal/dev/gendocs docs

docs-check: ## fail if the generated documentation is not what is in docs/
	scripts/docs-check.sh

bench: ## run the benchmarks six times; BASE=FILE compares with an earlier result
	scripts/bench.sh $(BASE)

bench-peers: build ## compare with other tools: CASES="max stall" BROKERS="artemis" BENCHFLAGS="-reps 3"
	go -C bench build -o $(CURDIR)/bin/bench-peers ./peers
	bin/bench-peers $(if $(CASES),-cases '$(CASES)') $(if $(BROKERS),-brokers '$(BROKERS)') $(BENCHFLAGS)

broker-test: ## run the tests against real brokers, BROKER="rabbitmq artemis"
	scripts/broker-test.sh $(BROKER)

interop: ## run the tests against Java's HdrHistogram, DuckDB, pyarrow and Qpid Proton
	scripts/interop.sh

crash: ## kill recordings and spoil their files, without the race detector; KILLS=20 of them
	KILLS=$(KILLS) go test -count=1 -timeout 10m ./internal/dev/crash/ ./format/

soak: build ## load perf-broker for SOAK (1h) and fail if memory grows; then the long forms of the tests
	PATH="$(CURDIR)/bin:$$PATH" scripts/soak.sh $(SOAK)
	SOAK=1 go test -count=1 -timeout 2h ./internal/dev/crash/ ./format/ ./internal/analysis/join/ ./internal/dev/e2e/
	SOAK=1 scripts/broker-test.sh $(BROKER)
	scripts/fuzz.sh 2m

demo: build ## run the whole pipeline into a folder; AMQP_URL=amqp://… uses that broker
	@PATH="$(CURDIR)/bin:$$PATH" AMQP_URL='$(AMQP_URL)' scripts/demo.sh

dist: ## build static release archives and checksums into dist/
	scripts/dist.sh '$(VERSION)' '$(LDFLAGS)' '$(COMMANDS)' $(PLATFORMS)

check: fmt-check vet lint race docs-check golden-check ## everything a change must pass

clean: ## remove what was built
	rm -rf bin dist demo-out bench-out
