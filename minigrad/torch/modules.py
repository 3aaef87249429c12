"""The type of all modules of `minigrad.torch`: of what they lack, they say why.

``torch.a``, ``import torch.a`` and ``from torch import a`` answer alike: with what a file of this
folder has, with a view (PyTorch has many files for what is one module here), or with a reason of
`minigrad.torch.absent`.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import MutableSequence
from dis import opmap
from fnmatch import fnmatchcase
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pkgutil import walk_packages
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from minigrad.torch.absent import CALLED, UNKNOWN, why_not

__all__ = ["Module", "Views", "complete"]

ROOT = "minigrad.torch"

PARTS = {
    "": "functional",
    "amp": "autocast_mode grad_scaler",
    "autograd": "anomaly_mode function grad_mode gradcheck variable",
    "cpu.amp": "autocast_mode grad_scaler",
    "cuda.amp": "autocast_mode grad_scaler",
    "distributions": """
        bernoulli beta binomial categorical dirichlet distribution exponential gamma geometric
        gumbel independent kl laplace multivariate_normal normal one_hot_categorical poisson
        studentT transformed_distribution transforms uniform""",
    "distributed": "nn",
    "distributed.nn": "api functional jit",
    "nn": "modules parallel parameter",
    "nn.modules": """
        activation batchnorm channelshuffle container conv distance dropout flatten fold
        instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn sparse
        transformer upsampling utils""",
    "nn.parallel": "data_parallel distributed",
    "nn.utils": "clip_grad convert_parameters spectral_norm weight_norm",
    "optim": """
        adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop rprop sgd""",
    "utils.data": "_utils _utils.collate dataloader dataset distributed sampler",
    "utils.tensorboard": "writer",
}  # fmt: skip
"""Modules, and those of PyTorch's below them that have the same names."""

VIEWS = {
    "_dynamo": "compiler", "_dynamo.config": "compiler.config", "_functorch": "func",
    "_inductor": "compiler", "_inductor.config": "compiler.config",
    "_jit_internal": "jit.annotations", "_vmap_internals": "func",
    "autograd.profiler": "profiler", "cpu.amp": "amp", "cuda.amp": "amp",
    "nn.utils.stateless": "func", "utils.model_zoo": "hub",
    **dict.fromkeys(("accelerator", "mps", "xpu"), "cuda"),
    **{f"backends.{name}": "backends.cudnn" for name in ("cuda", "mkl", "mkldnn", "mps", "openmp")},
    **{f"{module}.{part}".lstrip("."): module for module, s in PARTS.items() for part in s.split()},
}  # fmt: skip
"""Modules without a file, and those whose names they have."""


class Module(ModuleType):
    """A module that has a reason for each name of PyTorch's that is not here."""

    __path__: MutableSequence[str] = []  # noqa: RUF012 - without one, nothing below is imported

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if name.startswith("__"):
            raise AttributeError(f"{self.__name__} has no {name!r}")
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
        short = path.removeprefix(f"{ROOT}.")
        why = why_not(short)
        if any(fnmatchcase(short, pattern) for pattern in CALLED.split()):
            setattr(self, name, refusing(short, why))
            return vars(self)[name]
        if why == UNKNOWN and (near := difflib.get_close_matches(name, dir(self))):
            why = f"{why}; did you mean {' or '.join(near)}?"
        told = f"{self.__name__} has no {name!r}: {why}"
        caller = sys._getframe(1)
        if caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]:
            raise ImportError(told)  # for an AttributeError, Python has a text without the reason
        raise AttributeError(told)

    def __setattr__(self, name: str, value: Any) -> None:
        hidden = isinstance(value, ModuleType) and isinstance(vars(self).get(name), FunctionType)
        if not hidden:  # importing a module leaves the function of the same name where it is
            super().__setattr__(name, value)


def refusing(path: str, why: str) -> type:
    """A class that is there, and an error when it is called."""

    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(f"torch.{path}: {why}")

    return type(path.rpartition(".")[2], (), {"__new__": refuse})


class Views(MetaPathFinder, Loader):
    """Finds views; it is asked for modules that have no file."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of a view; an error with the reason for other modules of PyTorch's."""
        name = fullname.removeprefix(f"{ROOT}.")
        if name == fullname:
            return None
        if name in VIEWS:
            return ModuleSpec(fullname, self)
        told = f"{ROOT} has no module torch.{name}: {why_not(name)}"
        raise ModuleNotFoundError(told, name=fullname)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module that is still empty."""
        return Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Give it the names of the other module."""
        path = module.__name__.removeprefix(f"{ROOT}.")
        other = importlib.import_module(f"{ROOT}.{VIEWS[path]}".rstrip("."))
        module.__doc__ = other.__doc__
        for name, value in vars(other).items():
            if not name.startswith("__") and f"{path}.{name}" not in VIEWS:
                setattr(module, name, value)


def complete(package: ModuleType) -> None:
    """Load all files of a package, of which a star may have hidden some, and give them the type."""
    for file in walk_packages(package.__path__, f"{package.__name__}."):
        if not file.name.endswith(("__main__", "tensorboard")):  # the latter needs a package
            importlib.import_module(file.name).__class__ = Module
    package.__class__ = Module


sys.meta_path.append(Views())
