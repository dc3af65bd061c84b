# Two commands for a new machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The benchmark has an environment of its own, with the peers. Options: make bench BENCH="--fresh"
# Sets: short, full (speed); quality (test loss, seconds and size on the data sets of BENCH="--data-dir DIR");
# gpu (a machine with an NVIDIA card).
SET ?= short
BENCH_VENV := .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.installed
OLDEST_VENV := .venv-oldest
OLDEST_STAMP := $(OLDEST_VENV)/.installed
DOCS_STAMP := $(VENV)/.docs
BROWSER_STAMP := $(VENV)/.browser
PEERS := lightgbm catboost interpret-core chimeraboost

# What a change is tried with before it is committed: two minutes on two cores, with compiled code
# from the time before. `make test` is everything.
CHECKED := tests/test_architecture.py tests/test_package.py tests/paths tests/statistics \
	tests/losses tests/model tests/learners tests/storage tests/training/test_plan.py

.PHONY: demo check test lint unit kernels oldest cluster cuda test-gpu browser docs bench clean clean-cache

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rgboost needs Python 3.11 or later; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,plot]'
	touch $(STAMP)

demo: $(STAMP)  ## RGBM for five subset sizes on a data set inside scikit-learn
	$(BIN)/python -m rgboost.experiments.demo --out out

check: lint  ## lint, types and a selection of the tests, in at most two minutes
	$(BIN)/python -m pytest -n auto -q $(CHECKED)

test: lint unit kernels oldest  ## all checks but those of clusters, cards, browsers and the site

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n auto -q

kernels: $(STAMP)  ## the kernel tests once more as plain Python, so that no compiled branch hides a typo
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto -q -m kernel

$(OLDEST_STAMP): pyproject.toml .ci/oldest.py
	$(PYTHON) -m venv $(OLDEST_VENV)
	versions=$$($(PYTHON) .ci/oldest.py) && \
	$(OLDEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable . $$versions
	touch $(OLDEST_STAMP)

oldest:  ## scikit-learn's checks with the oldest versions that pyproject.toml admits
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then \
		$(MAKE) $(OLDEST_STAMP) && \
		$(OLDEST_VENV)/bin/python -m pytest -n auto -q -W ignore::DeprecationWarning \
			tests/estimators/test_checks.py; \
	else echo "The oldest versions have wheels up to Python 3.12: not run."; fi

cluster: $(STAMP)  ## rows on a Dask cluster: workers that are killed, and that join
	$(BIN)/python -m pytest -n 0 -q -m cluster tests/cluster

cuda: $(STAMP)  ## kernels and fits for cards on Numba's simulator of one, on tiny data: no card is needed
	NUMBA_ENABLE_CUDASIM=1 $(BIN)/python -m pytest -n auto --dist loadscope -q -m cuda tests/cuda

test-gpu: $(STAMP)  ## the same on an NVIDIA card, in at most ten minutes
	env -u NUMBA_ENABLE_CUDASIM $(BIN)/python -m pytest -n 0 -q -W ignore::DeprecationWarning -m cuda tests/cuda

$(BROWSER_STAMP): pyproject.toml $(STAMP)
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then \
		if [ "$$(id -u)" = 0 ]; then \
			apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium chromium-driver; \
		else echo "Chromium and its driver are missing: apt-get install chromium chromium-driver"; exit 1; fi; \
	fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	touch $(BROWSER_STAMP)

browser: $(BROWSER_STAMP)  ## the pages in Chromium: typing, dragging, keys, small screens
	$(BIN)/python -m pytest -n 0 -q -m browser tests/browser

$(DOCS_STAMP): pyproject.toml $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $(DOCS_STAMP)

SITE := site docs/gallery docs/api/generated docs/sg_execution_times.rst

docs: $(DOCS_STAMP)  ## the site from nothing, in site/index.html; a warning or a dead link is an error
	rm -rf $(SITE)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs site

$(BENCH_STAMP): pyproject.toml
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[plot]' $(PEERS)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check xgboost-cpu \
		|| $(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check xgboost
	touch $(BENCH_STAMP)

bench: $(BENCH_STAMP)  ## speed against every peer (under 5 minutes; SET=full: all; SET=quality: test loss)
ifeq ($(SET),quality)
	$(BENCH_VENV)/bin/python -m benchmarks.quality $(BENCH)
else ifeq ($(SET),gpu)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[cuda]'
	$(BENCH_VENV)/bin/python -m benchmarks.bench_gpu $(BENCH)
else
	$(BENCH_VENV)/bin/python -m benchmarks.run --set $(SET) $(BENCH)
endif

clean-cache:  ## after a change to a kernel that others call
	find src tests -name "*.nb[ic]" -delete

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(OLDEST_VENV) out $(SITE)
