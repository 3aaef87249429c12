# Everything runs in .venv, which tools/setup.sh makes on first use and keeps up to date.
#
#   make demo            train a transformer on handwritten digits, draw its graph
#   make demo RANKS=2    the same on two ranks, with MPI
#   make PYTHON=... demo choose the Python that .venv is made with (3.11 or newer)

.DEFAULT_GOAL := help
.PHONY: help demo test checks check test-slow test-all mutants needed lint references docs site site-serve pyodide notebook pictures bench bench-all install clean
export PYTHON

# Tests start Python hundreds of times: compiled files are kept, wherever bytecode is switched off.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

RUN := .venv/bin/python
# One BLAS thread: on matrices this small, threads spend their time waiting for one another.
CALM := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(RUN)
# Each worker begins with a half, in order: what a file prepares is then prepared by one of them.
TEST := $(CALM) -m pytest -n 2 --dist worksteal $(if $(CI),--durations=20)

help:  ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: setup-demo$(if $(RANKS), setup-mpi)  ## train a transformer on handwritten digits, draw its graph
	@$(if $(RANKS),.venv/bin/mpiexec -n $(RANKS) )$(RUN) examples/digits.py $(ARGS)

test: checks  ## lint, types, documentation and the quick tests: what must pass before a merge
	@$(TEST)

test-slow: docs pyodide  ## the tests that take seconds: browsers, ranks, example programs
	@$(TEST) -m "slow and not long"

check: lint  ## the tests of one op, layer or file: make check WHAT=softmax
	@$(CALM) tools/check.py '$(WHAT)' -n 2 --dist worksteal $(ARGS)

test-all: checks docs pyodide  ## everything: slow and long tests, more random examples, mutants
	@HYPOTHESIS_PROFILE=long $(TEST) -m ''
	@$(MAKE) --no-print-directory mutants

checks:  # each has one thread
	@$(MAKE) --no-print-directory -j 2 lint references

mutants: setup-dev  ## put a mistake into every derivative, one at a time: a test must fail
	@$(CALM) tools/mutants.py $(ARGS)

needed: setup-dev  ## which tests of a package kill mutants of its functions: make needed ROOM=optim
	@$(CALM) tools/needed.py $(ROOM) $(ARGS)

lint: setup-dev  ## ruff and mypy
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check --quiet || { echo "make lint: run .venv/bin/python -m ruff format"; exit 1; }
	@$(RUN) -m mypy

references: setup-dev  # reads the documentation as `make docs` does, and writes no pages
	@$(RUN) -m sphinx -W --keep-going -q -b dummy docs build/references

docs: setup-dev  ## build the documentation; a warning is an error
	@$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "documentation: docs/_build/index.html"

site: docs  ## write the site: documentation and playground; PYODIDE=folder for one without a CDN
	@$(RUN) site/build.py --out site/build --docs docs/_build $(if $(PYODIDE),--pyodide $(PYODIDE))

site-serve: site  ## the same, and show it at localhost:8000
	@$(RUN) -m http.server --bind 127.0.0.1 --directory site/build 8000

pyodide: setup-dev  # for the tests of the playground
	@$(RUN) site/local_pyodide.py .venv/pyodide || \
		echo "minigrad: no npm or no network: the tests of the playground are skipped"

notebook: setup-demo  ## write the guide and the exercises as notebooks, in examples/
	@$(RUN) tools/write_notebook.py

pictures: setup-dev  ## take the pictures of the README and docs/, in docs/_static/
	@$(CALM) tools/pictures.py

# On a processor with AVX-512, everything is measured twice: as it is, and held to AVX2.
bench: setup-bench torch  ## time minigrad beside PyTorch, JAX, MyGrad and HIPS autograd
	@set -e; for isa in $$($(RUN) benchmarks/_instructions.py); do \
		for script in encoder_layer training_step 'training_step --neighbours' \
			layers per_op forward_only transforms chain; do set -- $$script; name=$$1; shift; \
			printf '\n# %s, %s\n\n' "$$script" $$isa; \
			$(RUN) benchmarks/$$name.py --isa $$isa "$$@" $(ARGS); done; done

bench-all: bench  ## the same, then how time and memory grow, and BERT-base's shape
	@set -e; for script in growth scale profile_step; do \
		printf '\n# %s\n\n' $$script; $(RUN) benchmarks/$$script.py $(ARGS); done

install: setup-dev  ## make .venv ready for development, and do nothing else

clean:  ## remove .venv and everything built
	rm -rf .venv build dist docs/_build site/build site/node_modules *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: setup-demo setup-dev setup-bench setup-mpi torch
setup-demo setup-dev setup-bench setup-mpi: setup-%:
	@sh tools/setup.sh $*

torch: setup-bench  # this one has a CPU build; .ci/run takes the same
	@$(RUN) -c 'import torch' 2> /dev/null || \
		$(RUN) -m pip install --quiet --disable-pip-version-check torch==2.13.0
