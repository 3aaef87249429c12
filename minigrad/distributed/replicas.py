"""Replicas: what all ranks must have alike, compared now and then, so that they stay alike."""

from __future__ import annotations

import math
import weakref
import zlib
from collections.abc import Container
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.distributed.communicators import Communicator
from minigrad.nn import Module, Parameter
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

    They are compared before the first training step, after steps 1, 10, 100, ..., whenever they are
    saved, and at the end of the program. A step is a call of the module in training: whoever calls
    it, and whatever becomes of its gradients.

    Args:
        name: What has the module, for errors.
        module: The module; it gets a hook, which does nothing in a copy of the module.
        comm: The ranks.
        averaged: The parameters whose gradients are averaged, by their ids; None for all.
    """

    def __init__(
        self, name: str, module: Module, comm: Communicator, *,
        averaged: Container[int] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.comm, self.averaged = name, comm, averaged
        self._module = weakref.ref(module)
        self._next = self._calls = 0
        module.register_forward_pre_hook(self._before_call)
        comm.at_end(self._at_end)

    def compare(self, module: Module, when: str) -> None:
        """Compare now.

        Raises:
            RuntimeError: The ranks differ, on all ranks; or a parameter was added, replaced or
                unfrozen, so that its gradient is not averaged.
        """
        for name, param in module.named_parameters():
            known = self.averaged is None or id(param) in self.averaged
            if param.requires_grad and not known:
                raise RuntimeError(
                    f"{self.name}: {name} was added, replaced or unfrozen since the model was "
                    f"wrapped, so its gradient is not averaged; wrap the model again"
                )
        self.comm.agree(f"{self.name}, {when}", entries=self._entries(module))

    def _before_call(self, module: Module, _args: Any) -> None:
        if module is not self._module() or not module.training or not is_grad_enabled():
            return
        # Not in a `functional_call`, which has other tensors in the place of parameters
        due = self._calls >= self._next
        if due and all(isinstance(param, Parameter) for param in module.parameters()):
            self._next = max(1, 10 * self._next)
            self.compare(module, f"after step {self._calls}")
        self._calls += 1

    def _at_end(self) -> dict[str, str]:
        module = self._module()
        return {} if module is None or not self._calls else self._entries(module)

    def _entries(self, module: Module) -> dict[str, str]:
        named = dict(module.named_parameters())
        names = {id(param): name for name, param in named.items()}
        parts = {
            name for name, p in named.items() if getattr(p, "divided_among", None) is self.comm
        }
        kinds = structure(module).items()
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


def compare_replicas(model: Module, when: str) -> None:
    """Compare the replicas among the modules of a model."""
    for module in model.modules():
        for hook in module._forward_pre_hooks.values():
            replicas = getattr(hook, "__self__", None)
            if isinstance(replicas, Replicas) and replicas._module() is module:
                replicas.compare(module, when)


def _first(optimizer: Any, names: dict[int, str]) -> tuple[str, str]:
    """The order of optimizers, alike on all ranks."""
    params = [param for group in optimizer.param_groups for param in group["params"]]
    return type(optimizer).__name__, min(names.get(id(param), "") for param in params)


def _values(tensor: Tensor) -> str:
    array = np.ascontiguousarray(tensor._data)
    checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data)
    mean = float(array.mean(dtype=np.float64)) if array.size else math.nan
    return f"checksum {checksum:08x}, mean {mean:.9g}"
