"""Mutation testing: every rule is altered, or every function; a test must fail."""

import os

for _library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy: threads do not survive a fork
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
