# Targets for people; "make help" lists them. Nothing here needs a running server.

GO      ?= go
TOOL    := $(GO) tool -modfile=$(CURDIR)/.tools/go.mod
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION) -X main.commit=$(shell git rev-parse --short=12 HEAD 2>/dev/null)
# The race detector needs cgo, which Go turns off where there is no C compiler.
RACE    := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# Modules beside the root one.
MODULES := $(patsubst %/go.mod,%,$(wildcard cmd/peers/go.mod))
SPECTRAL := @stoplight/spectral-cli@6.16.3
MATRIX  := 16.14.0-beta.17 17.10.0-beta.17 18.4.0-beta.17

.DEFAULT_GOAL := help
.PHONY: help run build test test-model test-matrix generate sdk verify lint bench extension

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and start Regent with its own PostgreSQL in ./.regent
	bin/regent dev

build: ## Build bin/regent
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/regent ./cmd/regent

# The files of the tests' databases; the environment's TMPDIR, if there is one.
test test-model test-matrix: export TMPDIR := $(shell .tools/scratch)

test: ## Run all tests; they start their own PostgreSQL
	@$(if $(RACE),true,echo 'no C compiler: the tests run without the race detector')
	$(GO) test $(RACE) -vet=off -timeout 20m ./...

test-model: ## Run the long model test
	REGENT_MODEL_LONG=1 $(GO) test $(RACE) -timeout 40m -count=1 -run TestModel ./db

test-matrix: ## Run all tests on PostgreSQL 16, 17 and 18 (fetched with npm into .cache)
	GO='$(GO)' .tools/matrix $(MATRIX)

generate: ## Generate package db and the OpenAPI document
	$(TOOL) sqlc generate
	@mkdir -p .cache
	$(GO) run ./cmd/regent openapi > .cache/openapi.yaml
	mv .cache/openapi.yaml api/openapi.yaml

sdk: ## Generate the clients in api/sdk from the OpenAPI document (needs npm and python3)
	GO='$(GO)' .tools/sdk

verify: ## Check that generated files and module files are current; changes nothing
	$(TOOL) sqlc diff
	@for f in db/*.sql.go; do \
		test ! -e "$$f" -o -e "sql/queries/$$(basename "$$f" .go)" || { echo "$$f: its queries are gone" >&2; exit 1; }; \
	done
	@mkdir -p .cache
	$(GO) run ./cmd/regent openapi > .cache/openapi.yaml
	diff -u api/openapi.yaml .cache/openapi.yaml
	@sha256sum --check --quiet api/sdk/openapi.sha256 || { echo 'the clients in api/sdk are of another document: make sdk' >&2; exit 1; }
	$(GO) mod tidy -diff
	$(GO) -C .tools mod tidy -diff
	@for m in $(MODULES); do echo "$(GO) -C $$m mod tidy -diff"; $(GO) -C "$$m" mod tidy -diff || exit 1; done
	@tag=$$(git describe --tags --abbrev=0 2>/dev/null) || exit 0; \
		git diff --exit-code --diff-filter=MDR "$$tag" -- sql/migrations || { echo "a released migration was changed" >&2; exit 1; }

lint: ## Run gofmt, vet, staticcheck, plpgsql_check, the rules for functions and, with npx, spectral
	@bad=$$(find . -name '*.go' -not -path './.[a-z]*/*' -exec gofmt -l {} +); test -z "$$bad" || { echo "gofmt: $$bad" >&2; exit 1; }
	$(GO) vet ./... ./testdata/bench
	$(TOOL) staticcheck ./... ./testdata/bench
	@for m in $(MODULES); do \
		echo "vet and staticcheck in $$m"; \
		(cd "$$m" && $(GO) vet ./... && $(TOOL) staticcheck ./...) || exit 1; \
	done
	.tools/install
	REGENT_LINT=1 $(GO) test -count=1 -run 'TestFunctionRules|TestPlpgsqlCheck' ./db/migrate
	@if npx --yes $(SPECTRAL) --version >/dev/null 2>&1; then \
		npx --yes $(SPECTRAL) lint --ruleset .tools/spectral.yaml --fail-severity warn api/openapi.yaml; \
	else echo 'spectral cannot be had (npx, npm registry): the OpenAPI document is not linted'; fi

bench: build ## Compare with River, a plain table and bare SQL on a private PostgreSQL; BENCH_TOPICS=messages,upkeep,counters for a part
	$(GO) -C cmd/peers build -o $(CURDIR)/bin/peers .
	bin/peers suite --regent bin/regent

extension: ## Write the PostgreSQL extension regent to bin/extension
	rm -rf bin/extension
	$(GO) run ./db/migrate/extension bin/extension
	@echo 'Install it with: cp bin/extension/* "$$(pg_config --sharedir)/extension/"'
	@echo 'then in psql:    CREATE EXTENSION regent; or ALTER EXTENSION regent UPDATE;'
