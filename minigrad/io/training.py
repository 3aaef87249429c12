"""Checkpoints of a whole training in one file, to interrupt and resume it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from minigrad import random
from minigrad.data import DataLoader
from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.optim import Optimizer


@runtime_checkable
class Stateful(Protocol):
    """Anything with `state_dict` and `load_state_dict`: models, optimizers, schedulers, loaders."""

    def state_dict(self) -> Any: ...
    def load_state_dict(self, state_dict: Any, /) -> Any: ...


def save_training(path: str | os.PathLike[str], /, **parts: Any) -> None:
    """Save everything that a training needs to be resumed exactly.

    The state of `minigrad.random` is saved with it. Call it between two steps.

    Args:
        path: As in `save`, whose promises hold.
        **parts: By names of one's choice: the model, the optimizer, the scheduler, the loader, and
            whatever else has a ``state_dict``; counters and other values, as `save` takes them.

    Raises:
        ImportError: The package safetensors is missing.
        OSError: It cannot be written; an old file is as it was.
        TypeError: A value cannot be saved; the message says where it is.
        ValueError: The path ends in no format.

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
    stateful = {name: part for name, part in parts.items() if isinstance(part, Stateful)}
    training = {
        "classes": {name: type(part).__name__ for name, part in stateful.items()},
        "states": {name: part.state_dict() for name, part in stateful.items()},
        "values": {name: value for name, value in parts.items() if name not in stateful},
        "random": random.get_state(),
    }
    save(training, path)


def load_training(path: str | os.PathLike[str], /, **parts: Stateful) -> dict[str, Any]:
    """Resume a training that `save_training` saved: completely, or not at all.

    Args:
        path: The file.
        **parts: What had a state when it was saved, made as it was made then, by the same names.

    Returns:
        The other values by name.

    Raises:
        ImportError: The package safetensors is missing.
        LoadError: The file is damaged, or holds no training.
        OSError: It is not there, or cannot be read.
        ValueError: It is the training of other parts: another name, class, shape or option.
            Nothing was changed.

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
    _check_parts(path, saved["classes"], parts)
    loads = {name: (part.load_state_dict, saved["states"][name]) for name, part in parts.items()}
    loads["minigrad.random"] = (random.set_state, saved["random"])
    restore = {name: _restorer(part) for name, part in parts.items()}
    restore["minigrad.random"] = _restorer_of_random()
    # A loader that is in an epoch cannot be put back into it: it comes last, when all others fit.
    order = sorted(loads, key=lambda name: isinstance(parts.get(name), DataLoader))
    begun = []
    try:
        for name in order:
            begun.append(name)
            take, state = loads[name]
            take(state)
    except BaseException as error:
        for name in begun:
            restore[name]()
        if not isinstance(error, Exception):
            raise
        raise ValueError(
            f"load_training: {path} does not fit, nothing was changed: {name}: {error}"
        ) from error
    return saved["values"]


def _check_parts(path: Any, classes: dict[str, Any], parts: dict[str, Any]) -> None:
    """Refuse parts of other names or classes than those that were saved."""
    given = {name: type(part).__name__ for name, part in parts.items()}
    if given != classes:
        said = [
            ", ".join(f"{name}: {kind}" for name, kind in kinds.items()) or "none"
            for kinds in (classes, given)
        ]
        raise ValueError(
            f"load_training: {path} holds the states of other parts: {said[0]}; given: {said[1]}. "
            f"For the state of one part alone: minigrad.load(path)['states'][name]"
        )


def _restorer(part: Any) -> Callable[[], None]:
    """A function that restores the present state of a part."""
    state = part.state_dict()
    groups = [dict(group) for group in part.param_groups] if isinstance(part, Optimizer) else []

    def restore() -> None:
        if isinstance(part, DataLoader) and part.state_dict() == state:
            return  # it could not be put back into an epoch that it has not left
        part.load_state_dict(state)
        for group, options in zip(getattr(part, "param_groups", ()), groups, strict=bool(groups)):
            group.clear()  # of options that came with the state, too
            group.update(options)

    return restore


def _restorer_of_random() -> Callable[[], None]:
    state = random.get_state()
    return lambda: random.set_state(state)
