# Siteglass: everything a developer or CI runs. `make help` lists it.
# A target with a `## ` comment beside it appears in the help.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP_STAMP := $(VENV)/.setup-done
DOCS_STAMP := $(VENV)/.docs-rendered
# With folders: their times tell that a page was removed.
DOCS_SOURCES = README.md $(wildcard clients/*/README.md) scripts/build_docs.py $(wildcard scripts/docs_*.py) $(shell find docs)
# More workers than cores: the tests spend much of their time waiting for the engines.
PYTEST_WORKERS ?= 4
PYTEST_ARGS ?=
# Each run of the tests leaves here how long each test took; `make slowest` prints the longest.
DURATIONS := .test-durations
# Machines that are told to write no bytecode do here all the same: the tests start hundreds of commands, and each would
# compile all that it imports anew, which is two thirds of what `siteglass doctor` costs.
unexport PYTHONDONTWRITEBYTECODE
# The folders that hold Python; those that do not exist yet are skipped.
SOURCES = $(wildcard src demo/src clients/python/src tests testing scripts bench)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- set-up -------------------------------------------------------------------------------------

.PHONY: setup
setup: $(SETUP_STAMP) $(DOCS_STAMP) ## Install the locked dependencies and the package into .venv, and render the served docs

# By uv, in half of pip's time; by pip where uv does not find what a machine tells pip alone.
# Hash-checked, and the package itself without its dependencies: nothing comes in past the lock.
# The lock is a requirements file, so the build backend is in it and needs no isolated build.
$(SETUP_STAMP): requirements.lock pyproject.toml demo/pyproject.toml clients/python/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	awk '/^[a-z0-9]/ {wanted = /^uv==/} wanted' requirements.lock > $(VENV)/uv.txt
	$(BIN)/python -m pip install --quiet --retries 5 --require-hashes -r $(VENV)/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock || \
		$(BIN)/python -m pip install --quiet --retries 5 --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation \
		--editable . --editable demo --editable clients/python
	touch $@

$(DOCS_STAMP): $(SETUP_STAMP) $(DOCS_SOURCES)
	$(BIN)/python scripts/build_docs.py
	touch $@

COMPILE = $(BIN)/uv pip compile --quiet $(LOCK_ARGS) --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock"

.PHONY: lock
lock: ## Resolve pyproject.toml into requirements.lock and the locks in deploy/ (pass LOCK_ARGS=--upgrade for newer versions)
	test -x $(BIN)/uv || $(MAKE) setup
	$(COMPILE) --all-extras --output-file requirements.lock pyproject.toml clients/python/pyproject.toml
	$(COMPILE) --constraint requirements.lock --extra tracing --extra agents --output-file deploy/requirements.lock pyproject.toml
	$(COMPILE) --constraint requirements.lock --extra tracing --extra agents --extra ingest --output-file deploy/requirements-ingest.lock pyproject.toml
	$(COMPILE) --constraint requirements.lock --output-file deploy/requirements-build.lock - <<< $$'hatchling\nmarkdown-it-py'
	$(COMPILE) --output-file deploy/tools.lock deploy/tools.in

# --- engines and service ------------------------------------------------------------------------

.PHONY: up
up: ## Fetch and start OpenSearch, PostgreSQL and Redis on loopback
	$(PYTHON) scripts/engines.py up

.PHONY: down
down: ## Stop the demo's service and the engines that `up` started
	test ! -x $(BIN)/siteglass || $(BIN)/siteglass demo down
	$(PYTHON) scripts/engines.py down

.PHONY: status
status: ## Say which engines run, and where
	$(PYTHON) scripts/engines.py status

.PHONY: go-tools
go-tools: ## Build the judge and toxiproxy, which the proof of charging uses
	$(PYTHON) scripts/go_tools.py

.PHONY: typescript
typescript: setup ## Build clients/typescript from the API document, with a compiler that is installed for it
	$(BIN)/python scripts/typescript.py --build

.PHONY: browser
browser: ## Install Debian's Chromium, which the tests of pages drive
	$(PYTHON) scripts/browser.py install

.PHONY: doctor
doctor: setup ## Check the setup and show how to fix problems
	@$(BIN)/siteglass doctor

.PHONY: demo
demo: setup up ## Engines, 50,000 leads and the service; prints its address and keys as JSON last
	@$(BIN)/siteglass demo up --count 50000

.PHONY: demo-web
demo-web: setup ## Serve 500 made-up sites on loopback, for `siteglass crawl run`
	@$(BIN)/siteglass demo web

.PHONY: serve
serve: setup ## Run the service
	$(BIN)/siteglass serve

# --- checks -------------------------------------------------------------------------------------

# Nothing is repeated and nothing left out unseen: testing/outcomes.py says what a run may end with.
define tests
	$(BIN)/pytest -n $(1) --junitxml=$(DURATIONS)/$(2).xml $(3) $(PYTEST_ARGS)
endef
BESIDE := -m "not alone and not timing"

.PHONY: quick
quick: setup ## Run the pure tests, without engines, in less than a minute
	$(call tests,2,quick,$(BESIDE) --quick)

.PHONY: test
test: setup ## Run the tests of every change: most in parallel, then those that run alone; the engines must be up (PYTEST_WORKERS, PYTEST_ARGS)
	$(MAKE) parallel
	$(MAKE) alone

.PHONY: parallel
parallel: setup ## Run the tests that may run beside each other; the engines must be up
	$(call tests,$(PYTEST_WORKERS),parallel,$(BESIDE))

.PHONY: alone
alone: setup ## Run the tests that need the machine for themselves, one after the other; the engines must be up
	$(call tests,0,alone,--alone)

.PHONY: nightly
nightly: setup up browser ## Everything: the tests of every change, the long ones, and each race 12 times
	$(call tests,$(PYTEST_WORKERS),nightly,$(BESIDE) --nightly)
	$(call tests,0,nightly-alone,--alone --nightly)

.PHONY: slowest
slowest: ## Print the slowest tests of the last run
	$(PYTHON) scripts/slowest_tests.py $(DURATIONS)

.PHONY: lint style types
lint: setup ## Style, formatting, types, import layers, generated files, promises and plain English
	$(MAKE) --jobs 2 --output-sync=target types style

types: setup
	$(BIN)/mypy $(SOURCES)

style: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/lint-imports
	$(BIN)/python scripts/build_reference.py --check
	$(BIN)/python scripts/build_client.py --check
	$(BIN)/python scripts/build_conformance.py --check
	$(BIN)/python scripts/build_language.py --check
	$(BIN)/python scripts/check_english.py
	$(BIN)/python scripts/build_trades.py --check
	$(BIN)/python scripts/build_dashboards.py --check

.PHONY: format
format: setup ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

.PHONY: coverage
coverage: setup ## All tests with branch coverage, and its summary
	$(BIN)/pytest -n $(PYTEST_WORKERS) $(BESIDE) --cov --cov-report= $(PYTEST_ARGS)
	$(BIN)/pytest -n 0 --alone --cov --cov-append --cov-report=term:skip-covered $(PYTEST_ARGS)

.PHONY: mutants
mutants: setup ## Small defects in a part of src that its tests do not notice (OF=suppression BY=tests/suppression ARGS="--count 20 --seed 1")
	$(BIN)/python scripts/mutants.py $(OF) $(BY) $(ARGS)

.PHONY: check
check: lint test ## All that CI checks: lint and tests

.PHONY: screenshots
screenshots: demo browser ## Draw all pictures of the docs anew: from the demo as it starts, and from the tests of pages
	set -a && eval "$$($(BIN)/siteglass demo env)" && PYTHONPATH=.:scripts $(BIN)/python scripts/pictures.py
	SITEGLASS_SCREENSHOTS=1 $(BIN)/pytest -n 0 tests/browser $(PYTEST_ARGS)

.PHONY: clean
clean: ## Remove the environment, caches and build results (engines: `make down` first)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis $(DURATIONS) dist build
	rm -rf clients/typescript/dist clients/typescript/src/document.ts
	rm -rf .coverage .coverage.* src/siteglass/web/static/docs docs/conformance.md
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: vocabulary
vocabulary: setup ## Compile the vocabulary file from its sources (fetches them)
	$(BIN)/python scripts/build_vocabulary.py

.PHONY: trades
trades: setup ## Compile the trades and their names from scripts/trades
	$(BIN)/python scripts/build_trades.py

.PHONY: demo-companies
demo-companies: setup ## Read the made-up pages of the demo's companies again, after a change of extraction; commit the result
	$(BIN)/python scripts/build_demo_companies.py

.PHONY: sandbox-leads
sandbox-leads: setup ## Write the made-up leads of test keys again; commit the result
	$(BIN)/python scripts/build_sandbox_leads.py

.PHONY: technology-hosts
technology-hosts: setup ## Compile the hosts of technologies without a rule of their own from their sources (fetches them)
	$(BIN)/python scripts/build_technology_hosts.py

.PHONY: reference
reference: setup ## Write docs/reference/ and the client's records from the code
	$(BIN)/python scripts/build_reference.py
	$(BIN)/python scripts/build_client.py

.PHONY: conformance
conformance: setup ## Write docs/conformance.md, every promise with the tests that prove it; git ignores it
	$(BIN)/python scripts/build_conformance.py

# --- deploying ----------------------------------------------------------------------------------

.PHONY: wheel
wheel: setup ## Build the wheel of the service into dist/
	$(BIN)/python -m hatchling build --target wheel

.PHONY: release
release: setup ## Check version, changelog and tag; build wheel, source distribution, locks, SBOM and checksums into dist/
	$(BIN)/python scripts/release.py

.PHONY: deploy-check
deploy-check: setup ## Install the wheel into a fresh environment, and validate everything in deploy/
	$(BIN)/python scripts/deploy_check.py

.PHONY: alerts
alerts: setup ## Fire each alert by its real fault, with Prometheus and separate engines; takes a quarter of an hour
	($(STAMP); SITEGLASS_LONG=1 $(BIN)/pytest -n 0 -q -s --nightly tests/deploy/test_alerts.py --durations=20) | tee $(RESULTS)/alerts.txt

.PHONY: deploy-proof
deploy-proof: setup up ## Install on a bare Debian, upgrade under load, break each part, restore; writes docs/proof.md
	PYTHONPATH=scripts:. $(BIN)/python -m deploy_proof --page docs/proof.md $(PROOF_ARGS)

# --- long proofs: their results are committed; CI runs a smaller size of each ---------------------

RESULTS := bench/results
BENCH_LEADS ?= 500000
OLD ?= var/bench/0559360
STAMP = { date -u '+%Y-%m-%d'; echo "command: make $@"; echo "load average: $$(cut -d' ' -f1-3 /proc/loadavg), $$(nproc) cores"; }

.PHONY: proof
proof: long-fuzz long-roundtrip long-search long-limits long-accounts long-charging ## Full-size proofs: directives, round trips, limits, keys, races, charging

.PHONY: faults
faults: setup ## Engines and workers killed, frozen and stopped, at full size
	($(STAMP); SITEGLASS_LONG=1 $(BIN)/pytest -n 0 -q --nightly tests/faults tests/accounts/test_away.py \
		tests/limits/test_outages.py tests/search/test_restart.py tests/api/test_race.py \
		tests/api/test_revocation.py tests/api/test_rotation.py tests/suppression/test_property.py \
		tests/generations/test_gapless.py --durations=20) | tee $(RESULTS)/faults.txt

.PHONY: bench
bench: long-against long-depth long-alternatives long-before-paying long-load long-charge long-verify long-values long-nl long-suppression long-tracing long-dashboard long-client long-extract long-merge long-refresh ## Full-size measurements: overhead, page depth, alternatives, loading, charging, verifying, values, sentences, opt-outs, pages, client, ingest

.PHONY: long-fuzz
long-fuzz: setup ## A million random directive texts, and 100,000 with alternatives
	$(BIN)/python -m testing.fuzz_directives --count 1000000 --seed 1 --output $(RESULTS)/fuzz_directives.json
	$(BIN)/python -m testing.fuzz_directives --count 100000 --seed 1 --alternatives \
		--output $(RESULTS)/fuzz_alternatives.json

.PHONY: long-search
long-search: setup ## Hundreds of searches and walks against a reference scan, while others are written
	($(STAMP); SITEGLASS_LONG=1 $(BIN)/pytest -n 2 -q --nightly tests/search/test_meaning.py tests/search/test_pages.py \
		--durations=10) | tee $(RESULTS)/search.txt

.PHONY: long-roundtrip
long-roundtrip: setup ## 5,000 random searches printed and read again, as a body, as directives and in a cursor
	($(STAMP); SITEGLASS_LONG=1 $(BIN)/pytest -n 0 -q tests/query/test_roundtrip.py --durations=10) | tee $(RESULTS)/roundtrip.txt

.PHONY: long-limits
long-limits: setup ## 200,000 arrival traces against the definition, every kind of outage
	$(BIN)/python -m bench.limits_proof --rounds 2 --out $(RESULTS)/limits.json

.PHONY: long-accounts
long-accounts: setup ## 1,000 races for the last credits, typos of 1,000 keys, times of refusals
	($(STAMP); $(BIN)/python -m bench.prove_accounts) | tee $(RESULTS)/accounts.txt

.PHONY: long-charging
long-charging: setup ## A million charges under 200 kills, twins, seeded defects; writes docs/proof.md
	PYTHONPATH=scripts $(BIN)/python -m tests.proof --full --seed 1 --result $(RESULTS)/proof.json --page docs/proof.md

.PHONY: long-charge
long-charge: setup ## Charges a second of one account, and their latency
	($(STAMP); $(BIN)/python -m bench.charge_rate) | tee $(RESULTS)/charge_rate.txt

.PHONY: long-verify
long-verify: setup ## Verify a ledger of ten million rows, and find a flipped bit in it
	$(BIN)/python -m bench.verify_rate --keep

.PHONY: long-depth
long-depth: setup ## Cost of a page at 90 % depth, 500,000 leads, one shard and four
	$(BIN)/python -m bench.depth --leads 500000 --shards 1 4 --keep

.PHONY: long-alternatives
long-alternatives: setup ## Cost of a page of alternatives against its branches, 500,000 leads
	$(BIN)/python -m bench.alternatives --leads $(BENCH_LEADS) --keep

.PHONY: long-before-paying
long-before-paying: setup ## Time of facets, and of a search that excludes a list of 100,000 domains, 500,000 leads
	$(BIN)/python -m bench.before_paying --leads $(BENCH_LEADS) --listed 100000 --keep

.PHONY: long-against
long-against: setup ## CPU, time and throughput against commit 0559360 (checked out in OLD) and bare OpenSearch, 500,000 leads
	test -d $(OLD) || git worktree add --detach $(OLD) 0559360
	$(MAKE) -C $(OLD) setup
	$(BIN)/python -m bench.overhead.against --old $(OLD) --leads $(BENCH_LEADS) --searches 5000 --rounds 5 --keep

.PHONY: reference-overhead
reference-overhead: setup ## CPU per request at CI's size, which CI compares with; on a quiet machine
	$(BIN)/python -m bench.overhead.regression --keep

.PHONY: long-load
long-load: setup ## Rate of loading 500,000 leads, against bare bulk requests
	$(BIN)/python -m bench.load_rate --leads 500000 --keep

.PHONY: long-values
long-values: setup ## Time and memory of completing values
	$(BIN)/python -m bench.values --texts 5000 --keep

.PHONY: long-suppression
long-suppression: setup ## What a million suppressed values cost an answer
	$(BIN)/python -m bench.suppression --values 1000000 --keep

.PHONY: long-tracing
long-tracing: setup ## What tracing costs a request that is not traced
	$(BIN)/python -m bench.tracing_cost --keep

.PHONY: long-dashboard
long-dashboard: setup ## Time of every page of the dashboard with a million ledger entries
	$(BIN)/python -m bench.dashboard --entries 1000000 --keep

.PHONY: long-explore
long-explore: setup ## Time from Enter to chips and counts in Chromium, on the service that `siteglass demo env` names
	PYTHONPATH=scripts $(BIN)/python -m bench.explore --url "$$BASE_URL" --email "$$DASHBOARD_EMAIL" \
		--password "$$DASHBOARD_PASSWORD" --keep

.PHONY: long-nl
long-nl: setup ## Sentences: 10,000 generated, noise on the labelled sets, 200,000 random strings, speed
	$(BIN)/python -m bench.nl.prove --generated 10000 --strings 200000 --keep

.PHONY: long-crawl
long-crawl: setup ## Two fetchers against 2,000 hostile hosts, under kills of fetchers, PostgreSQL and Redis; takes hours
	SITEGLASS_LONG=1 $(BIN)/pytest -n 0 --nightly tests/crawl/test_hostile_web.py tests/crawl/test_kills.py

.PHONY: long-fill
long-fill: setup ## 20,000 places to leads, with 500 traps and ten kills; continues after an interruption; the engines must be up
	($(STAMP); SITEGLASS_LONG=1 $(BIN)/pytest -n 0 -q -s --nightly tests/crawl/test_fill_country.py --durations=3) | tee $(RESULTS)/fill_country.txt

.PHONY: long-frontier
long-frontier: setup ## Take and acknowledge with 10 million domains; needs 5 GB of disk
	$(BIN)/python -m bench.frontier_rate --keep

.PHONY: long-fetching
long-fetching: setup ## Pages per second of CPU, and memory, of the crawler on 500 made-up sites
	$(BIN)/python -m bench.crawl_rate --keep

.PHONY: long-extract
long-extract: setup ## Time of extraction on real pages, and Spark against the pool at 8,000 pages
	PYTHONPATH=scripts $(BIN)/python -m bench.extract_rate --pages 8000 --keep

.PHONY: long-merge
long-merge: setup ## 2 million page rows to 500,000 leads
	$(BIN)/python -m bench.merge_rate --rows 2000000 --keep

.PHONY: long-refresh
long-refresh: setup ## A refresh of 1 % of 500,000 domains, against 50,000 read, merged and loaded; the engines must be up
	$(BIN)/python -m bench.refresh_rate --domains 50000 --times 10 --keep

.PHONY: long-owners
long-owners: setup ## Precision and recall of whose address and phone it is, on labelled sites
	$(BIN)/python -m bench.owners dev
	$(BIN)/python -m bench.owners locked

.PHONY: long-s3
long-s3: setup ## The facts store on S3-compatible storage; builds versitygw first, which takes two minutes
	SITEGLASS_LONG=1 $(BIN)/pytest -n 0 -q --nightly tests/ingest/store/test_s3.py

.PHONY: long-client
long-client: setup ## The client: 50,000 leads over 30 cut lines and 10 killed processes, and its overhead
	$(BIN)/python -m bench.client_walk --leads 50000 --cuts 30 --kills 10 --keep
