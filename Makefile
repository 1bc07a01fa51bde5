# Everything a developer and CI do. `make` alone lists it.
# Needs make and a Python >= 3.11 with its venv module; uv is used when it is there.

VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(wildcard engine bots_sdk league api web config devserver)
TYPED := $(wildcard engine bots_sdk devserver league api web config tests benchmarks docs/images docker deploy manage.py)
# Not all of the checkout: the README has people write their bots in it.
LINTED := $(TYPED) $(wildcard examples)
# Django's settings are read for the types of models; nothing is connected to.
SETTINGS := SECRET_KEY=types DATABASE_URL=postgresql:///types REDIS_URL=redis://localhost/0
UV := $(shell command -v uv 2>/dev/null)
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Many short Python processes run. Without stored bytecode each would compile its code anew, and
# `make test` would take half as long again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

# --- The environment -------------------------------------------------------------------------
# `make up` needs fewer packages than `make test`: .running is the stamp of the one, .testing of the
# other, and .project of the checkout itself. Each is written last, so that an interrupted install is
# taken up again. The checkout is an editable install (one path entry and the commands), so it
# imports from any directory; it is built with the locked setuptools, without the network.
# If the Python of .venv is gone (an upgrade of the system removed it), the stamps are worth nothing.
ifneq ($(wildcard $(VENV)/.running $(VENV)/.testing $(VENV)/.project),)
ifeq ($(realpath $(BIN)/python),)
$(info venv: the Python of $(VENV) is gone, so $(VENV) is installed anew)
$(shell rm -f $(VENV)/.running $(VENV)/.testing $(VENV)/.project)
endif
endif

.PHONY: venv
venv: $(VENV)/.testing ## install what development needs into .venv (PYTHON=... picks the Python)
	@:

# Prints the first suitable Python. Without one it lists what was found. uv needs no venv module.
define find_python
found=; for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python); do \
	version=$$($$python -c 'import sys; print(*sys.version_info[:3], sep=".")' 2>/dev/null) || continue; \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' && \
		{ [ -n "$(UV)" ] || $$python -c 'import ensurepip, venv' 2>/dev/null; }; \
	then break; fi; \
	found="$$found $$python ($$version)"; version=; \
done; \
if [ -z "$$version" ]; then \
	echo "make venv: needs Python 3.11 or newer with its venv module; found:$${found:- none}." \
		"Name one: make PYTHON=/path/to/python3." >&2; exit 1; \
fi
endef

# Installs the packages of a lock file into $(VENV), which is made if it is not there.
ifdef UV
define install
@$(BIN)/python -c '' 2>/dev/null || { $(find_python); \
	echo "venv: Python $$version in $(VENV)"; \
	$(UV) venv --quiet --clear --python "$$(command -v $$python)" $(VENV); }
@$(BIN)/python devserver/install.py $(1) $(UV)
endef
else
define install
@$(BIN)/python -m pip --version >/dev/null 2>&1 || { $(find_python); \
	echo "venv: Python $$version in $(VENV)"; \
	$$python -m venv --clear $(VENV); }
@$(BIN)/python devserver/install.py $(1)
endef
endif

$(VENV)/.running: requirements/checkout.txt
	@rm -f $@
	$(call install,$<)
	@touch $@

$(VENV)/.testing: requirements/dev.txt $(VENV)/.project
	@rm -f $@
	$(call install,$<)
	@touch $@

$(VENV)/.project: $(VENV)/.running pyproject.toml
	@rm -f $@
ifdef UV
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
else
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
endif
	@touch $@

# --- Running ---------------------------------------------------------------------------------

# Some shells export HOST, the machine's name or kind: it counts on the command line alone.
.PHONY: up
up: $(VENV)/.project ## run the whole league on this machine, at http://127.0.0.1:8000/ (PORT=..., HOST=0.0.0.0, VERBOSE=1)
	@exec $(BIN)/python -m devserver.up $(if $(PORT),--port $(PORT)) \
		$(if $(filter command,$(origin HOST)),--host $(HOST)) $(if $(VERBOSE),--verbose)

.PHONY: down
down: ## end the league that runs in this checkout, in a terminal or in the background
	@if [ -x $(BIN)/python ]; then exec $(BIN)/python -m devserver.down; \
	else echo "No league runs here: nothing is installed yet."; fi

.PHONY: restore
restore: $(VENV)/.project ## replace the data here by a backup (FILE=var/backups/...), after make down
	@exec $(BIN)/python -m devserver.restore $(FILE)

.PHONY: demo-bot
demo-bot: $(VENV)/.project ## start an example bot here; it plays in the league of this checkout (URL=...: in another)
	@exec $(BIN)/python -m bots_sdk.demo $(URL)

# Needs any Python from 3.11 on and no environment: the server may have Docker alone.
.PHONY: secrets
secrets: ## write docker/.env with random secrets for the containers, unless it is there
	@python3 docker/make_secrets.py

# Needs any Python too.
.PHONY: upgrade
upgrade: ## replace the containers that run here by those of this checkout, without an outage
	@python3 docker/upgrade.py

# --- Checks ----------------------------------------------------------------------------------

.PHONY: test
test: lint ## lint, types, imports and most tests, about 5 min (THOROUGH=1: all tests; PYTEST_ARGS="-k deal -n0")
	@# Types and imports are checked beside the tests; their findings are printed after the tests.
	@mkdir -p build; { $(MAKE) types imports >build/check.log 2>&1 & } ; checks=$$!; \
	$(BIN)/pytest $(or $(PYTEST_ARGS),$(if $(THOROUGH),,-m "not thorough")); tests=$$?; \
	wait $$checks || { cat build/check.log >&2; exit 1; }; \
	exit $$tests

# It is not part of `make test`: it needs a Docker engine, and takes minutes.
.PHONY: test-containers
test-containers: $(VENV)/.testing ## test a league in containers: up, play, restart, upgrade, restore (needs Docker)
	@$(BIN)/python -m tests.containers

.PHONY: check
check: lint types types-js imports ## lint, types and import rules

.PHONY: lint
lint: $(VENV)/.testing ## ruff: rules and format
	@$(BIN)/ruff check --quiet $(LINTED)
	@$(BIN)/ruff format --quiet --check $(LINTED) || \
		{ $(BIN)/ruff format --check $(LINTED) ; echo "lint: run 'make format'" >&2; exit 1; }
	@echo "lint: ok"

.PHONY: types
types: $(VENV)/.testing ## mypy --strict on everything
	@$(SETTINGS) $(BIN)/mypy --no-error-summary $(TYPED)
	@echo "types: ok ($(TYPED))"

# TypeScript checks the scripts of the site, which are JavaScript with types in JSDoc. npm installs
# the locked version into build/types-js. For another version, change requirements/package.json and
# run `npm install --package-lock-only` in requirements/.
TSC := build/types-js/node_modules/typescript

.PHONY: types-js
types-js: ## TypeScript, strict, on the scripts of the site (needs npm; skipped without it)
	@if ! command -v npm >/dev/null; then echo "types-js: skipped, because npm is not installed"; \
	else $(MAKE) --silent $(TSC)/.locked && node $(TSC)/bin/tsc --project jsconfig.json && echo "types-js: ok"; fi

$(TSC)/.locked: requirements/package.json requirements/package-lock.json
	@mkdir -p build/types-js
	@cp $^ build/types-js/
	@npm ci --prefix build/types-js --ignore-scripts --no-audit --no-fund --loglevel=error >build/types-js/npm.log 2>&1 || \
		{ cat build/types-js/npm.log >&2; echo "types-js: npm did not install TypeScript" >&2; exit 1; }
	@touch $@

.PHONY: imports
imports: $(VENV)/.testing ## check which package may import which
	@for package in $(PACKAGES); do \
		grep -q "^root_packages = .*\"$$package\"" pyproject.toml || \
		{ echo "imports: add \"$$package\" to root_packages in pyproject.toml" >&2; exit 1; }; \
	done
	@report=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$report"; exit 1; }
	@echo "imports: ok"

.PHONY: format
format: $(VENV)/.testing ## format the code with ruff, and fix what ruff can fix by itself
	@$(BIN)/ruff check --fix --quiet $(LINTED) || true
	@$(BIN)/ruff format $(LINTED)

# --- Generating ------------------------------------------------------------------------------

.PHONY: sdk-types
sdk-types: $(VENV)/.testing ## write bots_sdk/answers/ from the OpenAPI schema
	@$(SETTINGS) $(BIN)/python manage.py write_sdk_types
	@echo "sdk-types: ok"

.PHONY: settings-table
settings-table: $(VENV)/.testing ## write the table of settings in docs/operate.md
	@$(SETTINGS) $(BIN)/python -m config.settings_table
	@echo "settings-table: ok"

# The kernel of playouts is committed, and needs clang 14 and lld 14 only when kernel.c changes:
# other versions write other bytes. It needs no environment.
KERNEL := engine/playouts/kernel.wasm

.PHONY: kernel
kernel: ## compile engine/playouts/kernel.c to WebAssembly (clang 14, lld 14)
	@clang --target=wasm32 -O2 -mbulk-memory -nostdlib -ffreestanding -Wall -Wextra -Werror \
		-Wno-sign-compare -Wl,--no-entry,-z,stack-size=65536,--strip-all \
		-o $(KERNEL) engine/playouts/kernel.c && chmod 644 $(KERNEL)
	@echo "kernel: ok ($(KERNEL))"

.PHONY: api-examples
api-examples: $(VENV)/.testing ## write api/examples/calls/ from the answers of a league
	@WRITE_API_EXAMPLES=1 $(BIN)/pytest -q -n0 tests/api/test_examples.py
	@echo "api-examples: ok"

.PHONY: gallery
gallery: $(VENV)/.testing ## save pictures of all parts of the pages in build/gallery/ (needs Chromium)
	@WRITE_GALLERY=1 $(BIN)/pytest -q -n0 tests/browser/test_gallery.py
	@ls build/gallery

# --- Packaging -------------------------------------------------------------------------------

# Built by the locked setuptools, without the network. A leftover of an earlier build would get in.
.PHONY: wheel
wheel: $(VENV)/.project ## build the package for bot authors, engine and bots_sdk, in dist/
	@rm -rf build/lib build/bdist.*; mkdir -p build dist
	@$(BIN)/python -c 'from setuptools import build_meta; build_meta.build_wheel("dist")' >build/wheel.log 2>&1 || \
		{ cat build/wheel.log >&2; exit 1; }
	@ls dist/*.whl

# --- Measuring -------------------------------------------------------------------------------

.PHONY: bench
bench: $(VENV)/.project ## measure how fast the engine is here
	@$(BIN)/python -m engine bench

.PHONY: benchservice
benchservice: $(VENV)/.testing ## measure how fast the service handles moves, turns, waiting requests and standings (15 min)
	@for each in service_moves turns_way waiting standings; do \
		echo "--- $$each"; $(BIN)/python benchmarks/$$each.py || exit 1; done

.PHONY: compare
compare: $(VENV)/.testing ## measure how fast the engine is beside OpenSpiel and RLCard
	@$(BIN)/python benchmarks/engine_compare.py

# --- Locking ---------------------------------------------------------------------------------
# Pinned and hashed for every Python from 3.11 on, without an index address. Pins stay unless
# pyproject.toml asks otherwise; UPGRADE=1 takes the newest. The server's and the checkout's are a
# part of the developers', so what runs has the versions that were tested.

LOCK_UV = $(or $(UV),build/uv/bin/uv)
COMPILE = $(LOCK_UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --custom-compile-command "make lock" \
	--no-emit-index-url --no-emit-find-links

.PHONY: lock
lock: ## write requirements/*.txt anew from pyproject.toml (UPGRADE=1: newest versions)
ifndef UV
	@[ -x build/uv/bin/uv ] || { $(find_python); $$python -m venv build/uv; }
	@build/uv/bin/python -m pip install -qq --disable-pip-version-check uv
endif
	@$(COMPILE) $(if $(UPGRADE),--upgrade) --all-extras --group checkout --group dev -o requirements/dev.txt
	@for group in checkout server s3 schemas; do \
		$(COMPILE) --upgrade --group $$group -c requirements/dev.txt -o requirements/$$group.txt || exit 1; done
	@grep -c == requirements/*.txt

# --- Cleaning --------------------------------------------------------------------------------

.PHONY: clean
clean: ## remove caches and builds; .venv and var/ stay
	@rm -rf build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## clean, and remove .venv
	@rm -rf $(VENV)
