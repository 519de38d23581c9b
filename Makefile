# Gatehouse. `make help` lists what can be done.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Where the environment forbids Python to keep what it has compiled, each start would compile everything again, which
# takes twice as long as the start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all mutants examples packages faults check format-and-lint types javascript audit bench fuzz pictures docs axe openid-provider relying-parties gitea lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

run: $(VENV)/run.done  ## set everything up and serve on 127.0.0.1:8000
	@$(BIN)/gatehouse serve

# With COVERAGE=yes both print line and branch coverage of what runs in the test processes (not in services of their
# own) and fail below a floor, which is a point below what is reached.
# For another Python: make test PYTHON=python3.13 VENV=.venv-newest
test: $(VENV)/dev.done axe  ## what every change needs: format, lint, types, imports, tests on the embedded default (five minutes)
	$(call checks_beside_tests,$(if $(COVERAGE),--cov --cov-fail-under=92.5),types TYPED="-p gatehouse")

test-all: $(VENV)/dev.done axe openid-provider relying-parties  ## everything: all engines, sizes of screen, faults, upgrade, package, examples (half an hour)
	@$(BIN)/python -m tests.examples.toolchains
	$(call checks_beside_tests,--all $(if $(COVERAGE),--cov --cov-fail-under=93.3),types audit)

# Types and imports are checked beside the tests: they keep one core busy, and their output is shown at the end.
PYTEST = $(BIN)/python -m pytest -n 3 --durations=15
# For a part of them: make test-all TESTS=tests/stores
TESTS  :=
define checks_beside_tests
@$(MAKE) --no-print-directory format-and-lint
@$(MAKE) --no-print-directory $(2) > $(VENV)/types.log 2>&1 & types=$$!; \
$(PYTEST) $(1) $(TESTS); tested=$$?; \
wait $$types; typed=$$?; cat $(VENV)/types.log; \
test $$tested -eq 0 && test $$typed -eq 0
endef

mutants: $(VENV)/dev.done  ## break the most dangerous rules one by one, and show which test notices
	$(BIN)/python -m tests.mutants

examples: $(VENV)/dev.done  ## build and run every example whose toolchain is there, and try it with bad tokens
	@$(BIN)/python -m tests.examples.toolchains
	$(BIN)/python -m pytest --all -v tests/examples

packages:  ## build what would be published for npm, Go and Maven into dist/, the same bytes each time
	@$(PYTHON) packages/build.py --into dist

faults: $(VENV)/dev.done  ## two hundred faults under load on each set of engines, and a checker that reads the history (about twenty minutes)
	$(BIN)/python -m tests.faults --faults 200 --engines embedded
	$(BIN)/python -m tests.faults --faults 200 --engines redis
	$(BIN)/python -m tests.faults --faults 200 --engines postgres

check: format-and-lint types  ## formatting, lint, types, imports, the JavaScript of the pages

format-and-lint: $(VENV)/dev.done
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# `make test` leaves out tests and benchmarks: their types take a third of the time, with an empty cache.
TYPED :=
types: $(VENV)/dev.done
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory javascript

# Where the service that knows of vulnerabilities cannot be reached, it says so, and that is no failure.
audit: $(VENV)/dev.done  ## whether a dependency has a known vulnerability
	$(BIN)/python -m tests.support.vulnerabilities requirements/run.txt requirements/dev.txt

bench: $(VENV)/bench.done  ## how fast it is, beside its baselines (needs wrk; five to six minutes)
	$(BIN)/python -m benchmarks.speed

fuzz: $(VENV)/dev.done  ## five minutes of bytes that nobody thought of, at each reader
	FUZZ_SECONDS=300 $(BIN)/python -m pytest --all -q tests/api/test_fuzz.py

pictures: $(VENV)/dev.done  ## take the pictures in docs/images anew (needs Chromium)
	$(BIN)/python -m tests.browser.pictures
	$(BIN)/python -m tests.support.terminal_picture

docs: $(VENV)/dev.done  ## the pages of docs/ as a static site with search, in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "site/index.html"

.PHONY: release
release: $(VENV)/dev.done  ## build everything of a release into dist/ and tag it; TAG=no builds only
	@$(BIN)/python -m release $(if $(filter no,$(TAG)),--no-tag)

# What the browser tests take from npm. Without npm, or where it cannot be had, those tests say that they are left out.
axe:
	@$(call npm_ci,tests/browser) || echo "npm cannot install axe-core: the tests of accessibility will be left out"

# The provider from npm that the tests of the relying party log in with.
openid-provider:
	@$(call npm_ci,tests/openid_provider) || echo "npm cannot install oidc-provider: its tests will be left out"

# The libraries from npm that log people in to applications with our provider.
relying-parties:
	@$(call npm_ci,tests/relying_parties/node) || echo "npm cannot install openid-client and next-auth: their tests will be left out"

gitea: $(VENV)/dev.done  ## build Gitea for its tests, into the user's cache (needs Go; five minutes)
	$(BIN)/python -m tests.relying_parties.gitea

# Types and lint of the JavaScript of the pages. The types know the API and the ids of the HTML, and are made from them.
JAVASCRIPT := gatehouse/api/pages/static
TOOLS := tests/javascript/node_modules/.bin
javascript: $(VENV)/dev.done
	@$(call npm_ci,tests/javascript) || echo "npm cannot install tsc and eslint: the checks of the JavaScript are left out"
	$(BIN)/python -m tests.javascript
	test ! -x $(TOOLS)/tsc || $(TOOLS)/tsc -p tests/javascript
	test ! -x $(TOOLS)/eslint || $(TOOLS)/eslint --no-config-lookup -c tests/javascript/eslint.config.mjs $(JAVASCRIPT)

# Installs what the lock file of a folder names, unless that is there already.
define npm_ci
{ test $(1)/node_modules/.package-lock.json -nt $(1)/package-lock.json || { \
  command -v npm >/dev/null && npm ci --prefix $(1) --ignore-scripts --no-audit --no-fund --engine-strict --loglevel=error \
  && touch $(1)/node_modules/.package-lock.json; }; }
endef

lock: $(VENV)/dev.done  ## pin the newest versions of all dependencies, with hashes
	$(BIN)/uv pip compile --quiet --upgrade $(SERVER) $(LOCK) -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --upgrade --group build $(LOCK) -o requirements/build.txt
	$(BIN)/uv pip compile --quiet --upgrade $(SERVER) --extra otel packages/python/pyproject.toml --extra httpx --group build --group dev $(LOCK) \
	  -c requirements/run.txt -c requirements/build.txt -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml --extra ldap $(LOCK) -c requirements/run.txt | \
	  awk '/^[^ #]/ { found = /^(python-ldap|pyasn1|pyasn1-modules)==/ } found && !/^ *#/' > requirements/ldap.txt
	{ echo "# The installer itself; \`make lock\` copies it out of dev.txt."; \
	  awk '/^[^ #]/ { found = /^uv==/ } found && !/^ *#/' requirements/dev.txt; } > requirements/uv.txt

SERVER = pyproject.toml --extra postgres --extra redis --extra mysql --extra openid
LOCK = --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --annotation-style line

clean:  ## remove the environment, caches and what examples and packages built; data/ stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache site tests/browser/node_modules tests/javascript/node_modules tests/openid_provider/node_modules
	rm -rf tests/relying_parties/node/node_modules tests/relying_parties/spring/target
	rm -rf examples/*/target examples/*/dist examples/*/node_modules
	rm -rf dist packages/*/target packages/*/dist packages/*/node_modules packages/node/LICENSE

$(VENV)/pip.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Gatehouse needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# uv installs in seconds what takes pip most of a minute; the hashes are the same. Where uv cannot be had, pip does it.
define install
@uv=$$(command -v uv || { $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt && echo $(BIN)/uv; } 2>/dev/null || true); \
{ test -n "$$uv" \
  && "$$uv" pip install --quiet --python $(BIN)/python --require-hashes -r $(1) \
  && "$$uv" pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation $(2) ; } \
|| { $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(1) \
  && $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(2) ; }
endef

# What ours is measured against: another captcha library, the usual Redis client, web frameworks.
$(VENV)/bench.done: $(VENV)/dev.done
	@$(BIN)/pip install --quiet --disable-pip-version-check captcha redis starlette fastapi
	@touch $@

$(VENV)/run.done: requirements/run.txt requirements/build.txt pyproject.toml | $(VENV)/pip.done
	@echo "Installing Gatehouse into $(VENV) ..."
	$(call install,requirements/run.txt -r requirements/build.txt,-e .)
	@touch $@

$(VENV)/dev.done: requirements/dev.txt requirements/ldap.txt pyproject.toml packages/python/pyproject.toml | $(VENV)/pip.done
	@echo "Installing Gatehouse and its test tools into $(VENV) ..."
	$(call install,requirements/dev.txt,-e . -e packages/python)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/ldap.txt >/dev/null 2>&1 || \
	  echo "python-ldap cannot be built here (it needs a compiler, libldap2-dev and libsasl2-dev): the tests of directories will be left out"
	@touch $@ $(VENV)/run.done
