"""Collectives on two, three and four ranks; what goes wrong ends all ranks and says why."""

from __future__ import annotations

import pytest
from mpi_runs import passes

pytestmark = [pytest.mark.needs("mpi4py"), pytest.mark.slow]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_collectives(ranks: int) -> None:
    assert passes(ranks, "collectives_program.py").count("passed") == ranks
