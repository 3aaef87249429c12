"""Checkpoints of a whole training run in one file, to interrupt and resume it."""

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, runtime_checkable

from minigrad import random
from minigrad.data import DataLoader
from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.optim import Optimizer


@runtime_checkable
class Stateful(Protocol):
    """An object with `state_dict` and `load_state_dict`: model, optimizer, scheduler, loader."""

    def state_dict(self) -> Any: ...
    def load_state_dict(self, state_dict: Any, /) -> Any: ...


def save_training(path: str | os.PathLike[str], /, **parts: Any) -> None:
    """Save everything needed to resume a training run exactly.

    This includes the state of `minigrad.random`. Call it between two steps.

    Args:
        path: As in `save`; the write is atomic too.
        **parts: Under names of your choice: the model, optimizer, scheduler, loader and anything
            else with a ``state_dict``, and other values that `save` accepts, such as counters.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn, optim
        >>> path = pathlib.Path(tempfile.mkdtemp(), "training.npz")
        >>> model = nn.Linear(2, 1)
        >>> optimizer = optim.AdamW(model.parameters())
        >>> minigrad.io.save_training(path, model=model, optimizer=optimizer, step=17)
        >>> minigrad.io.load_training(path, model=model, optimizer=optimizer)
        {'step': 17}
    """
    save(training_of(parts), path)


def training_of(parts: dict[str, Any]) -> dict[str, Any]:
    """The content of `save_training`, as one nested value."""
    stateful = {name: part for name, part in parts.items() if isinstance(part, Stateful)}
    return {
        "classes": {name: type(part).__name__ for name, part in stateful.items()},
        "states": {name: part.state_dict() for name, part in stateful.items()},
        "values": {name: value for name, value in parts.items() if name not in stateful},
        "random": random.get_state(),
    }


def load_training(path: str | os.PathLike[str], /, **parts: Stateful) -> dict[str, Any]:
    """Load a training run saved by `save_training`, and return its other values by name.

    If it does not fit, nothing is changed.

    Args:
        path: The file.
        **parts: The objects with a state, created as before saving, under the same names.

    Raises:
        LoadError: The file is damaged, or was not written by `save_training`.
        ValueError: The parts differ in name, class, shape or option. Nothing was changed.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn
        >>> path = pathlib.Path(tempfile.mkdtemp(), "training.npz")
        >>> minigrad.io.save_training(path, model=nn.Linear(2, 1), losses=[0.5, 0.25])
        >>> minigrad.io.load_training(path, model=nn.Linear(2, 1))
        {'losses': [0.5, 0.25]}
    """
    saved = load(path)
    keys = {"classes", "states", "values", "random"}
    if not (
        isinstance(saved, dict)
        and saved.keys() == keys
        and all(isinstance(saved[key], dict) for key in keys)
        and saved["classes"].keys() == saved["states"].keys()
    ):
        raise LoadError(f"load_training: {path}: not written by save_training")
    with resumed(path, saved, parts):
        return saved["values"]


@contextmanager
def resumed(path: Any, saved: dict[str, Any], parts: dict[str, Stateful]) -> Iterator[None]:
    """Give the parts their saved states within a block; if the block fails, take them back."""
    _check_parts(path, saved["classes"], parts)
    loads = {name: (part.load_state_dict, saved["states"][name]) for name, part in parts.items()}
    loads["minigrad.random"] = (random.set_state, saved["random"])
    restore = {name: _restorer(part) for name, part in parts.items()}
    restore["minigrad.random"] = partial(random.set_state, random.get_state())
    # Loaders come last: once loaded, a loader in the middle of an epoch cannot be restored.
    order = sorted(loads, key=lambda name: isinstance(parts.get(name), DataLoader))
    begun: list[str] = []
    try:
        for name in order:
            begun.append(name)
            take, state = loads[name]
            take(state)
        name = ""
        yield
    except BaseException as error:
        for each in begun:
            restore[each]()
        if not isinstance(error, Exception) or not name:
            raise
        what = f"{path} does not fit, nothing was changed: {name}: {error}"
        raise ValueError(f"load_training: {what}") from error


def _check_parts(path: Any, classes: dict[str, Any], parts: dict[str, Any]) -> None:
    """Check that the parts have the names and classes of the saved ones."""
    given = {name: type(part).__name__ for name, part in parts.items()}
    if given != classes:
        said = [
            ", ".join(f"{name}: {kind}" for name, kind in kinds.items()) or "none"
            for kinds in (classes, given)
        ]
        what = f"{path} holds the states of other parts: {said[0]}; given: {said[1]}"
        remedy = "For the state of one part alone: minigrad.load(path)['states'][name]"
        raise ValueError(f"load_training: {what}. {remedy}")


def _restorer(part: Any) -> Callable[[], None]:
    """A function that restores the current state of a part."""
    state = copy.deepcopy(part.state_dict())  # it shares memory with the part
    groups = [dict(group) for group in part.param_groups] if isinstance(part, Optimizer) else []

    def restore() -> None:
        if isinstance(part, DataLoader) and part.state_dict() == state:
            return  # see load_training: it comes last
        part.load_state_dict(state)
        for group, options in zip(getattr(part, "param_groups", ()), groups, strict=bool(groups)):
            group.clear()  # and of options that the state added
            group.update(options)

    return restore
