"""State dicts: reading and loading them, also under PyTorch's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad.nn.module.registry import join, walk
from minigrad.ops._numerics import values_of
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.nn.module.base import Module

EXTRA = "_extra_state"
"""The key of what a module saves besides its tensors."""


class Differences(NamedTuple):
    """The result of loading a state dict.

    Attributes:
        missing_keys: Keys of the module that the state lacks.
        unexpected_keys: Keys of the state that the module lacks.
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self[0]}, unexpected_keys={self[1]})"


def load(module: Module, state: Mapping[str, Any], strict: bool, assigned: bool) -> Differences:
    """Check all values, then copy or assign them: see `Module.load_state_dict`."""
    if not isinstance(state, Mapping):
        raise TypeError(f"load_state_dict: got {type(state)}, not a dict: minigrad.load gives one")
    given = {str(key): value for key, value in state.items()}
    metadata = getattr(state, "_metadata", {})
    modules = list(walk(module))
    found = Differences([], [])
    missing, unexpected = found
    problems: list[str] = []
    for path, owner in modules:
        prefix, own_metadata = f"{path}." if path else "", dict(metadata.get(path, {}))
        hooks = [hook for _, hook in owner._hooks_of("_load_state_dict_pre_hooks")]
        hooks += [type(owner)._load_from_state_dict] * owner._defines("_load_from_state_dict")
        if hooks:
            part = {key: given.pop(key) for key in list(given) if key.startswith(prefix)}
            for hook in hooks:
                hook(owner, part, prefix, own_metadata, strict, missing, unexpected, problems)
            given |= part
    given = _adapted(module, given)
    own = dict(module._tensors("", True, False, "parameter", "buffer"))
    extra = {join(path, EXTRA): m for path, m in modules if m._defines("set_extra_state")}
    arrays: dict[str, np.ndarray] = {}
    for key, tensor in own.items():
        if key in given:
            try:
                arrays[key] = _fitting(tensor, given[key])
            except (TypeError, ValueError) as error:
                problems.append(f"{key}: {error}")
    problems += _contradictions(own, arrays)

    present = {id(own[key]) for key in own if key in given}
    missing += [key for key, tensor in own.items() if id(tensor) not in present]
    missing += [key for key in extra if key not in given]
    unexpected += [key for key in given if key not in own and key not in extra]
    after = [(owner, hook) for _, owner in modules[::-1]
             for _, hook in owner._hooks_of("_load_state_dict_post_hooks")]  # fmt: skip
    _check(module, found if strict and not after else None, problems, "nothing was loaded")
    for key, array in arrays.items():
        value = given[key]
        if assigned:
            own[key].data = values_of(value) if isinstance(value, Tensor) else array
        elif not own[key]._data.flags.writeable:  # made by expand: it gets its own
            own[key].data = array
        else:
            assign(own[key], array)
    for key in extra.keys() & given.keys():
        extra[key].set_extra_state(given[key])
    for owner, hook in after:
        hook(owner, found)
    _check(module, found if strict else None, [], "what fits was loaded")
    return found


def _check(module: Module, found: Differences | None, problems: list[str], done: str) -> None:
    """Raise if something does not fit."""
    if found is not None:
        problems += [f"{key}: missing" for key in found.missing_keys]
        problems += [f"{key}: unexpected" for key in found.unexpected_keys]
    if problems:
        message = f"the state does not fit {type(module).__name__}; {done}"
        raise RuntimeError("\n  ".join([f"load_state_dict: {message}", *problems]))


def _adapted(module: Module, state: dict[str, Any]) -> dict[str, Any]:
    """The state under the module's own names: each module translates its part."""
    children = dict(module._children())
    result: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for key, value in module.adapt_state_dict(dict(state)).items():
        name, dot, rest = key.partition(".")
        if dot and name in children:
            parts.setdefault(name, {})[rest] = value
        else:
            result[key] = value
    for name, part in parts.items():
        adapted = _adapted(children[name], part)
        result |= {join(name, key): value for key, value in adapted.items()}
    return result


def _fitting(target: Tensor, value: Any) -> np.ndarray:
    """The value as a new array of the target's shape and dtype."""
    if getattr(value, "requires_grad", False):  # PyTorch's parameters refuse to become arrays
        value = value.detach()
    if str(getattr(value, "dtype", "")) == "torch.bfloat16":  # NumPy has none; float32 holds it
        value = value.float()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or not np.can_cast(array.dtype, target.dtype, "same_kind"):
        raise TypeError(f"{array.dtype} values given, {np.dtype(target.dtype)} expected")
    if array.shape != target.shape:
        raise ValueError(f"shape {tuple(array.shape)} given, {tuple(target.shape)} expected")
    return array.astype(target.dtype)  # a copy: the value may be a view of the target


def _contradictions(own: dict[str, Tensor], arrays: dict[str, np.ndarray]) -> Iterator[str]:
    """Report shared tensors that are given different values under their paths."""
    first: dict[int, str] = {}
    for key, array in arrays.items():
        earlier = first.setdefault(id(own[key]), key)
        if not np.array_equal(arrays[earlier], array, equal_nan=array.dtype.kind == "f"):
            yield f"{key}: the same tensor as {earlier}, but other values given"
