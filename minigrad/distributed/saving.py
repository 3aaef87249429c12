"""Checkpoints of a training run on several ranks: a folder with a file of each rank, and an index.

All ranks write their files under a new name; when all are on the disk, rank 0 replaces the index,
in one step. So the index names complete files at any time, whichever rank is killed. An array that
is equal on several ranks is written once.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad._tensor import Tensor
from minigrad.data import DataLoader
from minigrad.distributed.communicators import Communicator, world
from minigrad.distributed.tensor_parallel import divided_parameters, share
from minigrad.io.atomic import remove_unfinished
from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.io.training import Stateful, resumed, training_of
from minigrad.io.tree import pack, unpack
from minigrad.nn.module.base import Module
from minigrad.optim import Optimizer

__all__ = ["load_training", "save_training"]

INDEX = "index.npz"
UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{12}\.unfinished")
OF_A_RANK = re.compile(r"[0-9a-f]{12}\.rank\d+\.npz")


class Piece(NamedTuple):
    """Which part of the undivided array a rank has: from `start` to `end` of `size` on an axis."""

    axis: int
    start: int
    end: int
    size: int


def save_training(folder: Any, /, *, comm: Communicator | None = None, **parts: Any) -> None:
    """Save everything needed to resume a training run on several ranks; all ranks call it.

    The arguments are those of `minigrad.io.save_training`, with the weights and optimizer states
    that each rank has. The last save stays whole until this one is, at whatever time a rank is
    killed; what is then left over is removed by the next save.

    Args:
        folder: A folder that all ranks can reach; it is created. It belongs to this run alone.
        comm: The ranks that take part; all if None.
        **parts: As in `minigrad.io.save_training`, under the same names on all ranks.

    Raises:
        OSError: A rank could not write, and all ranks raise this. The last save is unchanged.

    Example:
        >>> import minigrad, tempfile
        >>> from minigrad import distributed, nn, optim
        >>> folder = tempfile.mkdtemp()
        >>> model = distributed.parallelize(nn.MultiHeadAttention(8, 2))
        >>> optimizer = optim.AdamW(model.parameters())
        >>> distributed.save_training(folder, model=model, optimizer=optimizer, step=17)
        >>> distributed.load_training(folder, model=model, optimizer=optimizer)
        {'step': 17}
    """
    comm, folder = comm or world(), Path(folder)
    comm.agree(f"save_training({', '.join(parts)})")
    packed, pieces = pack(training_of(parts)), _pieces(parts)
    divided = {k: [*piece] for k in packed.arrays if (piece := pieces.get(_key(k, parts)))}
    if missing := [key for key in _of_models(pieces, parts) if key not in divided]:
        raise ValueError(f"save_training: {missing[0]}: the name of a module cannot be saved")
    digests = _told(comm, {name: _digest(array) for name, array in packed.arrays.items()})
    places = [_places(digests, rank) for rank in range(comm.size)]
    files = f"{_told(comm, secrets.token_hex(6))[0]}.rank{{}}.npz"
    own = {key: packed.arrays[key] for key, rank in places[comm.rank].items() if rank == comm.rank}

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        save(own, folder / files.format(comm.rank))

    _all_or_none(comm, write)
    ranks = [
        [*each, place]
        for each, place in zip(_told(comm, (packed.structure, divided)), places, strict=True)
    ]
    index = {"files": files, "ranks": ranks}
    _all_or_none(comm, lambda: save(index, folder / INDEX) if comm.rank == 0 else None)
    if comm.rank == 0:
        _remove_older(folder, files)


def load_training(
    folder: Any, /, *, comm: Communicator | None = None, **parts: Stateful
) -> dict[str, Any]:
    """Load a training run saved by `save_training`, and return its other values; all ranks call it.

    On as many ranks as it was saved, each gets what it had, bit for bit. On another number, divided
    weights and optimizer states are joined and divided anew. What is no weight must then be equal
    on all ranks, except for the random states: rank r gets that of rank r, further ranks get new
    ones. A loader's place is kept if the batches of all ranks together are as large as before.
    Other values are those of rank 0.

    Args:
        folder: The folder.
        comm: The ranks that take part; all if None.
        **parts: The objects with a state, created as before saving, under the same names.

    Raises:
        LoadError: A file is damaged, or was not written by `save_training`.
        ValueError: The parts of some rank differ in name, class, shape or option. Nothing was
            changed on any rank.

    Example:
        >>> import minigrad, tempfile
        >>> from minigrad import distributed, nn
        >>> folder = tempfile.mkdtemp()
        >>> distributed.save_training(folder, model=nn.Linear(2, 1), losses=[0.5, 0.25])
        >>> distributed.load_training(folder, model=nn.Linear(2, 1))
        {'losses': [0.5, 0.25]}
    """
    comm, folder = comm or world(), Path(folder)
    comm.agree(f"load_training({', '.join(parts)})")
    told = False
    try:
        saved = _read(folder, parts, comm)
        with resumed(folder, saved, parts):
            told = True
            for rank, failure in enumerate(_told(comm, None)):
                if failure is not None:
                    raise ValueError(f"load_training: rank {rank} failed: {failure}")
    except Exception as error:
        if not told:
            _told(comm, f"{type(error).__name__}: {error}")
        raise
    values: dict[str, Any] = saved["values"]
    return values


def _told(comm: Communicator, value: Any) -> list[Any]:
    """The values of all ranks."""
    return [value] if comm.size == 1 else comm._own.allgather(value)


def _all_or_none(comm: Communicator, write: Any) -> None:
    """Write; an error on one rank is an error on all."""
    error = None
    try:
        write()
    except (OSError, TypeError, ValueError) as failed:
        error = failed
    for rank, failure in enumerate(_told(comm, error and str(error))):
        if failure is not None:
            raise OSError(f"save_training: rank {rank}: {failure}") from error


def _digest(array: np.ndarray) -> bytes:
    content = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    content.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return content.digest()


def _places(digests: list[dict[str, bytes]], rank: int) -> dict[str, int]:
    """By name, the rank that writes an array: one of those that have it, chosen by its digest."""
    found = {}
    for name, digest in digests[rank].items():
        holders = [r for r, other in enumerate(digests) if other.get(name) == digest]
        found[name] = holders[digest[0] % len(holders)]
    return found


def _remove_older(folder: Path, files: str) -> None:
    """Remove the files of earlier saves, and what killed programs left."""
    for path in folder.iterdir():
        unfinished = UNFINISHED.fullmatch(path.name)
        if unfinished:
            remove_unfinished(folder / unfinished[1])
        elif OF_A_RANK.fullmatch(path.name) and not path.name.startswith(files.partition(".")[0]):
            path.unlink()


def _pieces(parts: Mapping[str, Any]) -> dict[str, Piece]:
    """What is divided, by its `_key`: parameters of models, and the states of these."""
    found, of_parameters = {}, {}
    for name, model in parts.items():
        if isinstance(model, Module):
            for path, parameter, module in divided_parameters(model):
                key = path.rpartition(".")[2]
                size = module.whole_sizes[key]
                piece = Piece(module.divided[key], *share(size, module.comm), size)
                found[f"states.{name}.{path}"] = of_parameters[id(parameter)] = piece
    for name, optimizer in parts.items():
        if isinstance(optimizer, Optimizer):
            every = [param for group in optimizer.param_groups for param in group["params"]]
            for i, param in enumerate(every):
                if id(param) in of_parameters:
                    found[f"states.{name}.state.{i}"] = of_parameters[id(param)]
    return found


def _key(name: str, parts: Mapping[str, Any]) -> str:
    """The key in `_pieces` of an array: that of its parameter, for a state of an optimizer."""
    part = parts.get(name.split(".")[1]) if name.startswith("states.") else None
    return name.rpartition(".")[0] if isinstance(part, Optimizer) else name


def _of_models(pieces: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, list[int]]:
    """Those pieces that are parameters."""
    found = {name: [*piece] for name, piece in pieces.items()}
    return {k: v for k, v in found.items() if isinstance(parts.get(k.split(".")[1]), Module)}


def _read(folder: Path, parts: Mapping[str, Any], comm: Communicator) -> dict[str, Any]:
    """What this rank loads: what it saved, or what is joined from all that was saved."""
    index = load(folder / INDEX)
    if not isinstance(index, dict) or index.keys() != {"files", "ranks"}:
        raise LoadError(f"load_training: {folder / INDEX}: not written by save_training")
    ranks, pieces = index["ranks"], _pieces(parts)
    same = len(ranks) == comm.size and _of_models(pieces, parts) == _of_models(
        ranks[comm.rank][1], parts
    )
    files: dict[int, Any] = {}
    trees = []
    for structure, _, places in [ranks[comm.rank]] if same else ranks:
        for rank in {*places.values()} - files.keys():
            files[rank] = load(folder / index["files"].format(rank))
        trees.append(unpack({name: files[rank][name] for name, rank in places.items()}, structure))
    if same:
        return dict(trees[0])
    saved = [divided for _, divided, _ in ranks]
    joined = {
        name: _joined(f"states.{name}", [tree["states"][name] for tree in trees], saved)
        for name in trees[0]["states"]
    }
    states = {}
    for name, state in joined.items():
        states[name] = _divided_anew(f"states.{name}", state, parts, pieces)
        part = parts.get(name)
        own_size = part.batch_size if isinstance(part, DataLoader) else None
        if own_size and state["batch_size"] * len(ranks) == own_size * comm.size:
            states[name]["batch_size"] = own_size
    return {**trees[0], "states": states, "random": _random(trees, bool(pieces), comm)}


ABSENT: Any = object()


def _joined(path: str, values: list[Any], pieces: list[dict[str, list[int]]]) -> Any:
    """One value from those of all ranks: dicts joined by key, divided arrays along their axis."""
    present = [value for value in values if value is not ABSENT]
    first = present[0]
    if isinstance(first, dict):
        keys = {key: None for value in present for key in value}
        absent: dict[Any, Any] = {}
        return {
            key: _joined(
                f"{path}.{key}",
                [(absent if v is ABSENT else v).get(key, ABSENT) for v in values], pieces,
            )
            for key in keys
        }  # fmt: skip
    if any(path in own for own in pieces):
        whole: Any = None  # of the shape of the undivided model's array
        for value, own in zip(values, pieces, strict=True):
            if value is not ABSENT:
                axis, start, end, size = own[path]
                array, before = np.asarray(value), (slice(None),) * axis
                if whole is None:
                    shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])
                    whole = np.empty(shape, array.dtype)
                whole[(*before, slice(start, end))] = array
        return whole
    if isinstance(first, (list, tuple)) and all(len(value) == len(first) for value in present):
        return type(first)(
            _joined(f"{path}.{i}", [v if v is ABSENT else v[i] for v in values], pieces)
            for i in range(len(first))
        )
    if not all(_equal(first, value) for value in present):
        raise ValueError(
            f"load_training: {path} differs between the ranks that saved it; it can be resumed "
            f"only on {len(values)} ranks, with the weights divided in the same way"
        )
    return first


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (np.ndarray, Tensor)):
        a, b = np.asarray(one), np.asarray(other)
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(one == other)


def _divided_anew(
    path: str, value: Any, parts: Mapping[str, Any], pieces: Mapping[str, Piece]
) -> Any:
    """A joined state, with the arrays of divided parameters cut to the pieces of this rank."""
    if isinstance(value, dict):
        return {k: _divided_anew(f"{path}.{k}", v, parts, pieces) for k, v in value.items()}
    piece = pieces.get(_key(path, parts))
    if piece is None or not isinstance(value, (np.ndarray, Tensor)):
        return value
    return value[(slice(None),) * piece.axis + (slice(piece.start, piece.end),)]


def _random(trees: list[dict[str, Any]], divided: bool, comm: Communicator) -> dict[str, Any]:
    """The random state of this rank; ranks that there were not before get new ones.

    Where the weights are divided, all ranks draw the same numbers outside of the divided parts.
    """
    states = [tree["random"] for tree in trees]
    if divided or comm.rank < len(states):
        return dict(states[comm.rank % len(states)])
    inner = states[comm.rank % len(states)]["state"]
    seed = np.random.SeedSequence([inner["state"], inner["inc"], comm.rank])
    return dict(np.random.PCG64(seed).state)
