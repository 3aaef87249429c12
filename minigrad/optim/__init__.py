"""Optimizers, and schedules of their learning rates."""

from minigrad.optim import lr_scheduler
from minigrad.optim.adagrad import Adadelta, Adagrad, RMSprop
from minigrad.optim.adam import Adam, Adamax, AdamW
from minigrad.optim.asgd import ASGD
from minigrad.optim.lbfgs import LBFGS
from minigrad.optim.nadam import NAdam
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.radam import RAdam
from minigrad.optim.rprop import Rprop
from minigrad.optim.sgd import SGD

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "lr_scheduler",
]  # fmt: skip
