"""Optimizers, learning-rate schedulers, and averages of weights."""

import typing as _typing

from minigrad.optim import lr_scheduler
from minigrad.optim.adagrad import Adadelta, Adagrad, RMSprop, Rprop
from minigrad.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from minigrad.optim.lbfgs import LBFGS
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import ASGD, SGD, Muon
from minigrad.support.lazy_names import lazy_names as _lazy_names

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from minigrad.optim import swa_utils as swa_utils
else:  # it needs minigrad.nn, which is loaded only when it is used
    __getattr__ = _lazy_names("minigrad.optim", ("swa_utils",))
