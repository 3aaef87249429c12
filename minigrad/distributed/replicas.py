"""Replicas: what all ranks must have alike, compared now and then, so that they stay alike."""

from __future__ import annotations

import math
import zlib
from collections.abc import Container
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.distributed.communicators import Communicator
from minigrad.nn import Module
from minigrad.optim.optimizer import optimizers_of
from minigrad.tensors.tensor import Tensor

PLAIN = (int, float, str, type(None))


def structure(module: Module) -> dict[str, str]:
    """By the names of parameters and buffers, what they are."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return {
        name: f"{t.dtype.name} {tuple(t.shape)}, {'' if t.requires_grad else 'not '}trained"
        for name, t in tensors
    }


class Replicas:
    """The weights of a module, and the options with which they are trained, on several ranks.

    They are compared before the first training step, and after steps 1, 10, 100, ...

    Args:
        name: What has the module, for errors.
        module: The module.
        comm: The ranks.
        averaged: The parameters whose gradients are averaged, by their ids; None for all.
    """

    def __init__(
        self, name: str, module: Module, comm: Communicator, *,
        averaged: Container[int] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.module, self.comm, self.averaged = name, module, comm, averaged
        self._next = self._calls = 0

    def check(self, steps: int) -> None:
        """After some steps: compare, if it is time.

        Raises:
            RuntimeError: The ranks differ, on all ranks; or a parameter was added, replaced or
                unfrozen, so that its gradient is not averaged.
        """
        if steps >= self._next:
            self._next = max(1, 10 * self._next)
            self._check_averaged()
            self.comm.agree(f"{self.name}, after step {steps}", entries=self._entries())

    def _check_averaged(self) -> None:
        for name, param in self.module.named_parameters():
            known = self.averaged is None or id(param) in self.averaged
            if param.requires_grad and not known:
                raise RuntimeError(
                    f"{self.name}: {name} was added, replaced or unfrozen since the model was "
                    f"wrapped, so its gradient is not averaged; wrap the model again"
                )

    def check_before_call(self, module: Module, _args: Any) -> None:
        """The hook of a module: each call in training mode is a step."""
        if module.training and is_grad_enabled():
            self._calls += 1
            self.check(self._calls - 1)

    def _entries(self) -> dict[str, str]:
        named = dict(self.module.named_parameters())
        names = {id(param): name for name, param in named.items()}
        parts = {
            name for name, p in named.items() if getattr(p, "divided_among", None) is self.comm
        }
        kinds = structure(self.module).items()
        found = {f"what {name} is": text for name, text in kinds if name not in parts}
        optimizers = optimizers_of(named.values())
        for optimizer in sorted(optimizers, key=lambda each: _first(each, names)):
            for number, group in enumerate(optimizer.param_groups):
                label = f"of {type(optimizer).__name__}, group {number}"
                trained = [names.get(id(param), "another") for param in group["params"]]
                found[f"the parameters {label}"] = ", ".join(trained)
                for option, value in group.items():
                    if option != "params" and isinstance(value, (*PLAIN, tuple, list)):
                        found[f"{option} {label}"] = repr(value)
        return found | {
            f"the values of {name}": _values(param)
            for name, param in named.items()
            if name not in parts
        }


def _first(optimizer: Any, names: dict[int, str]) -> tuple[str, str]:
    """The order of optimizers, alike on all ranks."""
    params = [param for group in optimizer.param_groups for param in group["params"]]
    return type(optimizer).__name__, min(names.get(id(param), "") for param in params)


def _values(tensor: Tensor) -> str:
    array = np.ascontiguousarray(tensor._data)
    checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data)
    mean = float(array.mean(dtype=np.float64)) if array.size else math.nan
    return f"checksum {checksum:08x}, mean {mean:.9g}"
