"""Rank 1 ends early: the argument says before what, and how."""

import os
import sys

rank, (before, how) = int(os.environ["PMI_RANK"]), sys.argv[1].split(", ")


def end() -> None:
    """The end of rank 1."""
    if how == "exception":
        raise FileNotFoundError("data.csv")
    sys.exit(3)


if rank == 1 and before == "import":
    end()
from minigrad import distributed  # noqa: E402  # rank 1 may end before

if rank == 1:
    end()
distributed.world().barrier()
