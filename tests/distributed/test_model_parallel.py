"""Models, sequences and optimizers divided among two, three and four ranks."""

from __future__ import annotations

import pytest
from mpi_runs import passes

pytestmark = [pytest.mark.needs("mpi4py"), pytest.mark.slow]


@pytest.mark.parametrize("ranks", [2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_divided_as_undivided(ranks: int) -> None:
    assert passes(ranks, "model_parallel_program.py").count("passed") == ranks
