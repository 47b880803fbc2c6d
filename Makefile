SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# goolm is the pure Go implementation of Matrix' encryption: the program needs no C compiler and no C library.
TAGS := goolm
export CGO_ENABLED := 0

# Without the folder's path in what is built, all clones on a machine share the build cache.
export GOFLAGS += -trimpath

# What the linker leaves out: symbols, debug information and half of the space between functions. The release and the image say the same.
LDFLAGS := -s -w -funcalign=16

# A dependency that makes the program larger than this is looked at: go tool nm -size -sort size.
MAX_BYTES := 100000000

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## See the whole of it: a real homeserver, a real bridge, six contacts and you (first time: a few minutes)
	@deploy/setup.sh cc
	go build -tags $(TAGS) -o bin/demo ./e2e/demo
	@exec bin/demo

# One after the other: side by side on two cores, the units took three times as long, and tests that wait for Matrix ran out of time.
.PHONY: test
test: ## Run all tests: end to end on a real homeserver, units and the database under the race detector
	@deploy/setup.sh postgres cc
	@$(MAKE) --no-print-directory endtoend
	@$(MAKE) --no-print-directory units

# The race detector lets each process sleep for a second before it exits, and the tests start hundreds of processes.
.PHONY: units
units: export GORACE := atexit_sleep_ms=10
units:
	CGO_ENABLED=1 go test -race -timeout 60m -tags $(TAGS) ./...
	cd bench && CGO_ENABLED=1 go test -tags '$(TAGS) sqlite_fts5' .

.PHONY: endtoend
endtoend:
	go test -tags '$(TAGS) e2e' -count=1 -timeout 60m -p 2 ./deploy/devstack ./e2e/...

.PHONY: check
check: lint ## Check form, lint, vet, module files and build
	@deploy/setup.sh cc
	go vet -tags '$(TAGS) e2e' ./...
	go mod tidy -diff
	cd bench && CGO_ENABLED=1 go vet -tags '$(TAGS) sqlite_fts5' . && go mod tidy -diff
	@go build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/check ./cmd/multis; \
		size=$$(stat -c %s bin/check); rm bin/check; echo "the program has $$size bytes"; [ "$$size" -lt $(MAX_BYTES) ]

.PHONY: lint
lint: ## Lint: form, house rules, who may import whom (the first time builds the linter: minutes)
	$(GOLANGCI) run --allow-parallel-runners ./...

.PHONY: fmt
fmt: ## Format the code
	$(GOLANGCI) fmt ./...

.PHONY: bench
bench: ## Run the benchmarks; prints standard Go benchmark lines
	@deploy/setup.sh postgres
	@go test -tags $(TAGS) -run '^$$' -bench . -benchmem $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -r -n1 dirname | sort -u)

.PHONY: bench-compare
bench-compare: ## Compare the speed of the last commit with another: make bench-compare BASE=main~20
	@deploy/setup.sh postgres cc
	cd bench && CGO_ENABLED=1 go run -tags '$(TAGS) sqlite_fts5' . compare $(BASE) HEAD

.PHONY: customers
customers: ## Ask the customers' questions of bench/customers without a model; prints how many were answered
	@go run -tags $(TAGS) ./cmd/multis rehearse --sets bench/customers --model none

.PHONY: chaos
chaos: ## Run the long storms: processes killed over and over, an hour of downtime
	@deploy/setup.sh postgres cc
	go test -tags '$(TAGS) chaos' -count=1 -timeout 90m -run 'Schedule_ComesOnceThroughKills|Serve_|Init_StoppedAt|Init_StoppedWrites|Init_EndsOnSignal' -v ./cmd/multis
	go test -tags '$(TAGS) chaos' -count=1 -timeout 30m -run Thousands ./memory
	MULTIS_TEST_SHADOW_TURNS=1000 go test -tags $(TAGS) -count=1 -timeout 60m -run Shadow_YesNeverSends -v ./cmd/multis
	MULTIS_STORIES=1000 go test -tags $(TAGS) -count=1 -timeout 180m -run LifeOfChats ./appservice
	MULTIS_SEQUENCES=1000 go test -tags $(TAGS) -count=1 -timeout 60m -run Desk_RandomLeaksNoNote ./business/desk
	MULTIS_TEST_ALL=1 go test -tags $(TAGS) -count=1 -timeout 60m -run 'Hostile|Injection_Foreign' -v ./admin ./agent
	MULTIS_TEST_ROUNDS=100 go test -tags $(TAGS) -count=1 -timeout 60m -run Approval_RandomEvents -v ./admin
	MULTIS_TEST_INTERLEAVINGS=10000 go test -tags $(TAGS) -count=1 -timeout 90m -run Draft_NeverSentAfterChange -v ./admin
	MULTIS_DESK_SEQUENCES=100 go test -tags '$(TAGS) e2e chaos' -count=1 -timeout 120m -p 1 -v ./e2e/...
	@$(MAKE) --no-print-directory test-browser test-proxies test-compose test-release

.PHONY: test-browser
test-browser: ## Use the web page in Chromium, and check its accessibility; the pictures are in /tmp/multis-pictures
	@deploy/setup.sh postgres browser
	@mkdir -p /tmp/multis-pictures
	go test -tags '$(TAGS) chaos' -count=1 -timeout 20m -v -run Web_InARealBrowser -artifacts -outputdir /tmp/multis-pictures ./admin

.PHONY: test-proxies
test-proxies: ## Use the web page through the real nginx and Caddy, configured as docs/web.md says
	@deploy/setup.sh postgres proxies
	go test -tags '$(TAGS) chaos' -count=1 -timeout 20m -v -run Proxies ./ops/web

.PHONY: test-compose
test-compose: ## Install and run docker-compose.yml on a real Docker Engine, as the README says
	@deploy/setup.sh qemu
	go test -tags '$(TAGS) chaos' -count=1 -timeout 60m -v -run Engine ./deploy/devstack
	go test -tags '$(TAGS) chaos' -count=1 -timeout 60m -v -run 'Compose|Profile|Image' ./deploy/installtest

.PHONY: test-release
test-release: ## Build a release twice, compare, run it for arm64, and install it on a fresh Debian that systemd booted
	@deploy/setup.sh postgres qemu
	go test -tags '$(TAGS) chaos' -count=1 -timeout 60m -v -run Machine ./deploy/devstack
	go test -tags '$(TAGS) chaos' -count=1 -timeout 60m -v -run 'Build|Package|Systemd' ./deploy/installtest

.PHONY: release
release: ## Build dist/: static programs and Debian packages for amd64 and arm64, SBOM, checksums
	@deploy/release.sh dist

.PHONY: build
build: ## Build bin/multis, a static binary
	@deploy/setup.sh
	go build -tags $(TAGS) -ldflags '$(LDFLAGS) -X main.version=$(VERSION)' -o bin/multis ./cmd/multis
