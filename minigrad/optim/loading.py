"""Check a saved state against an optimizer, and convert it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad._tensor import Tensor
from minigrad.optim.blocks import State

if TYPE_CHECKING:
    from minigrad.optim.optimizer import Optimizer


def fitting(
    optimizer: Optimizer, state_dict: Mapping[str, Any]
) -> tuple[list[Mapping[str, Any]], dict[Tensor, State]]:
    """Check a state dict; return the options of its groups, and the state of each parameter."""
    name = optimizer._name
    if not isinstance(state_dict, Mapping) or {"state", "param_groups"} - state_dict.keys():
        raise ValueError(f"{name}: a state dict has the keys 'state' and 'param_groups'")
    groups, saved = list(state_dict["param_groups"]), state_dict["state"]
    sizes = [len(group["params"]) for group in optimizer.param_groups]
    given = [len(group["params"]) for group in groups]
    if sizes != given:
        raise ValueError(
            f"{name}: the saved groups hold {given} parameters, this optimizer's {sizes}"
        )
    for group in groups:
        missing = optimizer.defaults.keys() - group.keys()
        if missing:
            raise ValueError(f"{name}: a saved group lacks {', '.join(sorted(missing))}")
        optimizer._check_options(group)
    state: dict[Tensor, State] = {}
    unknown = set(saved)
    for own, group in zip(optimizer.param_groups, groups, strict=True):
        for param, number in zip(own["params"], group["params"], strict=True):
            unknown.discard(number)
            if number in saved:
                state[param] = optimizer._restored(number, param, saved[number])
    if unknown:
        raise ValueError(f"{name}: saved state of unknown parameters {sorted(unknown)}")
    return groups, state


def kept_for(optimizer: Optimizer, number: int, param: Tensor, saved: Mapping[str, Any]) -> State:
    """The saved state of one parameter, copied to arrays of its shape and dtype."""
    kept, required = optimizer._kept, optimizer._required
    if (saved.keys() - set(kept)) | (set(required) - saved.keys()):
        raise ValueError(
            f"{optimizer._name}: the state of parameter {number} has {sorted(saved)}, "
            f"{sorted(required or kept)} expected"
        )
    state: State = {}
    for name, value in saved.items():
        if name in optimizer._numbers:
            state[name] = optimizer._numbers[name](value)
            continue
        array = np.asarray(value).astype(param.dtype)
        if array.shape != param.shape:
            raise ValueError(
                f"{optimizer._name}: {name} of parameter {number} has shape {array.shape}, "
                f"the parameter {param.shape}"
            )
        state[name] = array
    return state
