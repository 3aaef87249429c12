"""Optimizers, learning-rate schedulers, and averages of weights."""

import importlib as _importlib
import typing as _typing

from minigrad.optim import lr_scheduler
from minigrad.optim.adagrad import Adadelta, Adagrad, RMSprop, Rprop
from minigrad.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from minigrad.optim.lbfgs import LBFGS
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import ASGD, SGD, Muon
from minigrad.support.near_names import names as _names

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from minigrad.optim import swa_utils as swa_utils
else:

    def __getattr__(name):
        if name == "swa_utils":  # it needs minigrad.nn, which is loaded only when it is used
            return _importlib.import_module("minigrad.optim.swa_utils")
        return _names("optim", __all__)(name)
