"""What the processes of a benchmark need: imported once, by the one that they are forked from."""

import contextlib
import gc

import minigrad.nn.by_hand
import minigrad.optim  # noqa: F401

with contextlib.suppress(ImportError):
    import torch
    import torch._dynamo  # noqa: F401 - optimizers import it when they are first used

gc.freeze()  # the collections of a process walk through what is its own
