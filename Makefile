# Everything runs in .venv, which the first command creates; `make help` lists the targets.
PYTHON ?= python3
# -P: what lies in the working folder shadows no module; the package is installed.
PY := .venv/bin/python -P
# Tests that need the built site, or run a notebook once more, are run by .ci/run; `make test MARKERS="slow and not site"` runs the slow ones.
MARKERS ?= not site and not ci and not slow
# The cells of a notebook are compared in order, by one process.
DIST ?= loadfile
# What requirements.lock holds; torch, files of other formats, adapters, and the peers of the benchmarks, are left to those who want them.
LOCKED := --extra chapters --group dev
NOTEBOOKS ?= $(wildcard notebooks/*.ipynb)

# Two BLAS threads on a busy machine spin against each other and are slower than one.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export NUMEXPR_NUM_THREADS ?= 1
export VECLIB_MAXIMUM_THREADS ?= 1
# Kernels of this environment come before the user's own; no debugger checks at kernel start.
export JUPYTER_PREFER_ENV_PATH := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1
export PYTHONHASHSEED := 0
unexport VIRTUAL_ENV PYTHONDONTWRITEBYTECODE PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: broken help setup lock book pdf live test check arithmetic mutate notebooks bench claims clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready  ## create .venv with the locked packages and this package, editable

# Python may have been upgraded or removed since: .venv is looked at whenever a target needs it.
BROKEN := $(shell .venv/bin/python -I -c 'import lazy_loader, pip' 2>/dev/null || echo broken)

.venv/.ready: requirements.lock pyproject.toml scripts/bootstrap.py $(BROKEN)
	@$(PYTHON) scripts/bootstrap.py

lock: .venv/.ready  ## resolve pyproject.toml again into requirements.lock
	@$(PY) -m uv pip compile -q --universal $(LOCKED) --generate-hashes --no-header --no-annotate --upgrade pyproject.toml -o requirements.lock

book: .venv/.ready  ## execute the notebooks, build the site, and print the path of its first page
	@.venv/bin/jupyter-book build . -W --keep-going -n

pdf: .venv/.ready  ## after make book: print its main line with Chromium, and link it from the first page
	@$(PY) scripts/print_edition.py

live: .venv/.ready  ## after make book: let its pages run their code; ARGS="--engine none" takes that away
	@$(PY) scripts/live_pages.py $(ARGS)

test: .venv/.ready  ## run the tests of package, notebooks, book and repository, but for the slow ones
	@$(PY) -m pytest -m "$(MARKERS)" -n auto --maxprocesses 4 --dist $(DIST) $(ARGS)

check: .venv/.ready  ## look at form: linter, formatter, types, docstrings, notebooks, workflows, versions
	@.venv/bin/pre-commit run --all-files
	@.venv/bin/pre-commit run --all-files --hook-stage manual

arithmetic: .venv/.ready  ## run all tests under other arithmetic; ARGS="haswell -- tests/large" chooses
	@$(PY) scripts/arithmetic.py $(ARGS)

notebooks: .venv/.ready  ## execute the notebooks in place; the same sources give the same bytes
	@$(PY) scripts/refresh_notebooks.py $(NOTEBOOKS)
	@$(PY) scripts/check_notebooks.py $(NOTEBOOKS)

bench: .venv/.ready  ## print ratios of speed against named peers
	@$(PY) -m benchmarks $(ARGS)

claims: .venv/.ready  ## collect the verdicts from the executed notebooks
	@$(PY) -m chapters claims collect

mutate: .venv/.ready  ## plant 100 faults in the core and print those that no test notices; takes hours
	@$(PY) scripts/mutate.py $(ARGS)

clean:  ## remove what was built; .venv stays
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find capcore chapters tests benchmarks scripts book notebooks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
