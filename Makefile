# The commands of the README, and what must be green before a commit. Each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help

help:                    ## this list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

demo: $(VENV)/product $(VENV)/tensorflow/ready  ## let a TensorFlow operation die, say why, die again by the script written of it
	@$(BIN)/sigwhy demo --python $(VENV)/tensorflow/bin/python

test: $(VENV)/tools $(VENV)/tensorflow/ready $(VENV)/arrays/ready  ## every gate and every test
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }
	@$(BIN)/pytest -q -n auto --dist worksteal

format: $(VENV)/tools    ## put the code into the house's form
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

docs: $(VENV)/tools      ## write the generated pages anew
	@$(BIN)/python tools/index.py && $(BIN)/python tools/docs.py && $(BIN)/python tools/schema.py

fuzz: $(VENV)/tools      ## 200,000 mutated crash texts and 20,000 shared objects, none of which may raise
	@$(BIN)/python tools/fuzz.py --texts 200000
	@$(BIN)/python tools/fuzz_objects.py --files 20000

laws: $(VENV)/tools      ## the laws of all tests, with many more examples, others each time
	@SIGWHY_LAWS=deep $(BIN)/pytest -q -n auto --timeout 1200 $$(grep -rl "hypothesis import" tests --include='test_*.py')

bench: $(VENV)/tools     ## how fast, as ratios measured side by side
	@$(BIN)/python bench/explain.py; $(BIN)/python bench/run.py
	@$(BIN)/python bench/autopsy.py --python $(VENV)/tensorflow/bin/python

calibration: $(VENV)/tools  ## of the verdicts given with so much, how many are right
	@$(BIN)/python tools/calibration.py

matrix: $(VENV)/tools    ## install and run the wheel and the sdist on every Python here, and beside TensorFlow 2.13
	@$(BIN)/python tools/matrix.py

pins: $(VENV)/tools      ## renew constraints.txt: the newest versions of all development tools
	@$(BIN)/python tools/pins.py

clean:                   ## forget the environment and all that was built
	@rm -rf $(VENV) build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "sigwhy needs Python 3.10 or newer, and $(PYTHON) is older; type: make PYTHON=python3.12 ..."; exit 1; }
	@echo "setting up $(VENV) (once, about a minute)"
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "$(PYTHON) has no venv module; on Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }

$(VENV)/product: $(BIN)/python pyproject.toml constraints.txt
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/tools: $(VENV)/product
	@$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@

# What the live tests crash: frameworks in environments of their own, as a user has them.
$(VENV)/%/ready: tools/%.txt | $(BIN)/python
	@echo "setting up $(VENV)/$* (once, about two minutes)"
	@$(PYTHON) -m venv $(VENV)/$*
	@$(VENV)/$*/bin/python -m pip --disable-pip-version-check --quiet install --requirement tools/$*.txt
	@touch $@

.PHONY: help demo test format docs fuzz laws bench calibration matrix pins clean
