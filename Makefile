SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# goolm is the pure Go implementation of Matrix' encryption: the program needs no C compiler and no C library.
TAGS := goolm
export CGO_ENABLED := 0

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## See the whole of it: a real homeserver, a real bridge, four contacts and you (first time: a few minutes)
	@deploy/setup.sh cc
	go build -tags $(TAGS) -o bin/demo ./e2e/demo
	@exec bin/demo

# The end-to-end tests mostly wait for Matrix, so that they run beside the others. These have a lower priority, because they
# only need the processor.
.PHONY: test
test: ## Run all tests: units and the database under the race detector, end to end on a real homeserver
	@deploy/setup.sh postgres cc
	@$(MAKE) --no-print-directory --jobs=2 units endtoend

.PHONY: units
units:
	CGO_ENABLED=1 nice go test -race -timeout 30m -tags $(TAGS) ./...
	cd bench && CGO_ENABLED=1 nice go test -tags '$(TAGS) sqlite_fts5' .

.PHONY: endtoend
endtoend:
	go test -tags '$(TAGS) e2e' -count=1 -timeout 30m -p 2 ./deploy/devstack ./e2e/...

.PHONY: check
check: lint ## Check form, lint, vet, module files and build
	@deploy/setup.sh cc
	go vet -tags '$(TAGS) e2e' ./...
	go mod tidy -diff
	cd bench && CGO_ENABLED=1 go vet -tags '$(TAGS) sqlite_fts5' . && go mod tidy -diff
	go build -tags $(TAGS) -o /dev/null ./cmd/multis

.PHONY: lint
lint: ## Lint: form, house rules, who may import whom (the first time builds the linter: minutes)
	$(GOLANGCI) run ./...

.PHONY: fmt
fmt: ## Format the code
	$(GOLANGCI) fmt ./...

.PHONY: bench
bench: ## Run the benchmarks; prints standard Go benchmark lines
	@deploy/setup.sh postgres
	@go test -tags $(TAGS) -run '^$$' -bench . -benchmem $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -r -n1 dirname | sort -u)

.PHONY: chaos
chaos: ## Run the long storms: processes killed over and over, an hour of downtime
	@deploy/setup.sh postgres cc
	go test -tags '$(TAGS) chaos' -count=1 -timeout 30m -run 'ComesOnceThroughKills' -v ./cmd/multis
	go test -tags '$(TAGS) chaos' -count=1 -timeout 30m -run Thousands ./memory
	go test -tags '$(TAGS) e2e chaos' -count=1 -timeout 90m -p 1 -v ./e2e/...

.PHONY: build
build: ## Build bin/multis, a static binary
	go build -tags $(TAGS) -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/multis ./cmd/multis
