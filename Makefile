# Two commands for a new machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint unit kernels bench clean clean-cache

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rgboost needs Python 3.11 or later; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,plot]'
	touch $(STAMP)

demo: $(STAMP)  ## RGBM for five subset sizes on a data set inside scikit-learn
	$(BIN)/python -m rgboost.experiments.demo --out out

test: lint unit kernels  ## everything that CI runs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n auto -q

kernels: $(STAMP)  ## the kernel tests once more as plain Python, so that no compiled branch hides a typo
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto -q -m kernel

bench: $(STAMP)  ## speed against LightGBM and XGBoost
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[bench]'
	$(BIN)/python benchmarks/bench_direct.py

clean-cache:  ## after a change to a kernel that others call
	find src tests -name "*.nb[ic]" -delete

clean:
	rm -rf $(VENV) out
