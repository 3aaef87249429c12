"""Checkpoints of a training run on several ranks: a folder with a file of each rank, and an index.

All ranks write their files under a new name; when all are on the disk, rank 0 replaces the index,
in one step. So the index names complete files at any time, whichever rank is killed. What a rank
has as rank 0 has it is in the file of rank 0 only.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad.data import DataLoader
from minigrad.distributed.communicators import Communicator, world
from minigrad.distributed.data_parallel import DistributedSampler
from minigrad.distributed.replicas import compare_replicas
from minigrad.distributed.tensor_parallel import along, divided_parameters, share
from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.io.training import Stateful, resumed, training_of
from minigrad.io.tree import pack, unpack
from minigrad.nn import Module
from minigrad.optim import Optimizer
from minigrad.support.files import folder_for
from minigrad.support.tree import structure
from minigrad.tensors.tensor import Tensor

Pieces = dict[str, list[int]]
"""By the name of an array: the axis that is divided, the part from start to end, the whole size."""

INDEX = "index.npz"
OF_A_SAVE = re.compile(
    r"\.?([0-9a-f]{12})\.rank\d+\.npz(\.[0-9a-f]{12}\.unfinished)?|\.index\.npz\..*\.unfinished"
)


def save_training(folder: Any, /, *, comm: Communicator | None = None, **parts: Any) -> None:
    """Save everything needed to resume a training run on several ranks; all ranks call it.

    The last save stays whole until this one is, at whatever time a rank is killed; what is then
    left over is removed by the next save.

    Args:
        folder: A folder that all ranks can reach; it is created. It belongs to this run alone.
        comm: The ranks that take part; all if None.
        **parts: As in `minigrad.io.save_training`, under the same names on all ranks.

    Raises:
        OSError: This rank could not write. The last save is unchanged.
        RuntimeError: Another rank could not. The last save is unchanged.

    Example:
        >>> import tempfile
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
    for name, part in parts.items():
        if isinstance(part, Module):
            compare_replicas(part, f"in save_training, {name}")
    packed, pieces = pack(training_of(parts)), _pieces(parts)
    if missing := pieces.keys() - packed.arrays.keys():
        raise ValueError(f"save_training: {min(missing)}: the name of a module cannot be saved")
    digests = comm.all_gather_object(
        {name: _digest(array) for name, array in packed.arrays.items()}
    )
    first, mine = digests[0], digests[comm.rank]
    own = {k: v for k, v in packed.arrays.items() if not comm.rank or mine[k] != first.get(k)}
    token = comm.all_gather_object(secrets.token_hex(6))[0]
    index = {"token": token, "ranks": comm.all_gather_object([packed.structure, [*mine], pieces])}

    def write() -> None:
        folder_for(folder, [INDEX])
        save(own, _file(folder, token, comm.rank))

    _together(comm, write)
    _together(comm, lambda: save(index, folder / INDEX) if comm.rank == 0 else None)
    if comm.rank == 0:
        for path in folder.iterdir():  # of earlier saves, also of killed ones
            match = OF_A_SAVE.fullmatch(path.name)
            if match and match[1] != token:
                path.unlink()


def load_training(
    folder: Any, /, *, comm: Communicator | None = None, **parts: Stateful
) -> dict[str, Any]:
    """Load a training run saved by `save_training`, and return its other values; all ranks call it.

    On as many ranks as it was saved, each gets what it had, bit for bit. On another number, divided
    weights and optimizer states are joined and divided anew. All other states must then be equal on
    all ranks, except that rank r draws random numbers as rank r did, and further ranks draw new
    ones. A loader's place is kept if the batches of all ranks together are as large as before.
    Other values are those of rank 0.

    Args:
        folder: The folder.
        comm: The ranks that take part; all if None.
        **parts: The objects with a state, created as before saving, under the same names.

    Raises:
        LoadError: A file is damaged, or was not written by `save_training`.
        RuntimeError: Another rank failed. Nothing was changed.
        ValueError: The parts differ in name, class, shape or option. Nothing was changed on any
            rank.

    Example:
        >>> import tempfile
        >>> from minigrad import distributed, nn
        >>> folder = tempfile.mkdtemp()
        >>> distributed.save_training(folder, model=nn.Linear(2, 1), losses=[0.5, 0.25])
        >>> distributed.load_training(folder, model=nn.Linear(2, 1))
        {'losses': [0.5, 0.25]}
    """
    comm = comm or world()
    comm.agree(f"load_training({', '.join(parts)})")
    with ExitStack() as stack:  # which takes everything back if another rank fails

        def resume() -> dict[str, Any]:
            saved = _read(Path(folder), parts, comm)
            stack.enter_context(resumed(folder, saved, parts))
            values: dict[str, Any] = saved["values"]
            return values

        return _together(comm, resume)


def _together(comm: Communicator, action: Callable[[], Any]) -> Any:
    """Do something on all ranks; a failure on one is an error on all."""
    result = error = None
    try:
        result = action()
    except Exception as failed:  # noqa: BLE001  # raised below
        error = failed
    failures = comm.all_gather_object(error and f"{type(error).__name__}: {error}")
    if error is not None:
        raise error
    for rank, failure in enumerate(failures):
        if failure is not None:
            raise RuntimeError(f"rank {rank} failed: {failure}")
    return result


def _file(folder: Path, token: str, rank: int) -> Path:
    return folder / f"{token}.rank{rank}.npz"


def _digest(array: np.ndarray) -> bytes:
    content = hashlib.blake2b(f"{array.dtype.str}{tuple(array.shape)}".encode(), digest_size=16)
    content.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return content.digest()


def _pieces(parts: Mapping[str, Any]) -> Pieces:
    """Which part of each divided parameter this rank has, by the names in a file."""
    return {
        f"states.{part}.{path}": [module.divided[name], *share(size, module.comm), size]
        for part, model in parts.items()
        if isinstance(model, Module)
        for path, _, module in divided_parameters(model)
        for name in [path.rpartition(".")[2]]
        for size in [module.whole_sizes[name]]
    }


def _parameters(parts: Mapping[str, Any]) -> dict[str, str]:
    """The name of the parameter to which an entry belongs, by the name that its own begins with."""
    found: dict[str, str] = {}
    names: dict[int, str] = {}
    for part, model in parts.items():
        if isinstance(model, Module):
            for path, tensor in model.state_dict(keep_vars=True).items():
                found[f"states.{part}.{path}"] = f"states.{part}.{path}"
                names.setdefault(id(tensor), f"states.{part}.{path}")
    for part, optimizer in parts.items():
        if isinstance(optimizer, Optimizer):
            every = [param for group in optimizer.param_groups for param in group["params"]]
            for i, param in enumerate(every):
                found[f"states.{part}.state.{i}"] = names.get(id(param), "")
    return found


def _read(folder: Path, parts: Mapping[str, Any], comm: Communicator) -> dict[str, Any]:
    """The values that this rank loads: its own, or joined from those of all ranks."""
    index = load(folder / INDEX)
    if not isinstance(index, dict) or index.keys() != {"token", "ranks"}:
        raise LoadError(f"load_training: {folder / INDEX}: not written by save_training")
    ranks, pieces = index["ranks"], _pieces(parts)
    common = load(_file(folder, index["token"], 0))

    def tree(rank: int) -> dict[str, Any]:
        structure, names, _ = ranks[rank]
        arrays = common | (load(_file(folder, index["token"], rank)) if rank else {})
        value: dict[str, Any] = unpack({name: arrays[name] for name in names}, structure)
        return value

    if len(ranks) == comm.size and ranks[comm.rank][2] == pieces:
        return tree(comm.rank)
    trees = {rank: tree(rank) for rank in range(len(ranks))}
    for name, part in parts.items():
        if isinstance(part, DataLoader) and name in trees[0]["states"]:
            loaders = [each["states"][name] for each in trees.values()]
            for loader in loaders:
                if isinstance(part.sampler, DistributedSampler):  # its order needs no generator
                    loader["generator"] = loaders[0]["generator"]
                if (loader["batch_size"] or 0) * len(ranks) == (part.batch_size or 0) * comm.size:
                    loader["batch_size"] = part.batch_size
    joining = _Joining([saved for _, _, saved in ranks], pieces, _parameters(parts))
    states = joining.value("states", {rank: each["states"] for rank, each in trees.items()})
    state = trees[comm.rank % len(ranks)]["random"]
    if comm.rank >= len(ranks) and not pieces:  # divided models draw the same on all ranks
        inner = state["state"]
        seed = np.random.SeedSequence([inner["state"], inner["inc"], comm.rank])
        state = dict(np.random.PCG64(seed).state)
    return {**trees[0], "states": states, "random": state}


class _Joining(NamedTuple):
    """Making the states of this rank from those of another number of ranks."""

    saved: list[Pieces]  # the pieces that each of the other ranks had
    wanted: Pieces  # the pieces of this rank
    parameters: dict[str, str]  # see `_parameters`

    def value(self, path: str, values: dict[int, Any]) -> Any:
        """One value from those of the ranks that have it."""
        rank, first = next(iter(values.items()))
        if isinstance(first, dict):
            keys = dict.fromkeys(key for value in values.values() for key in value)
            return {
                key: self.value(f"{path}.{key}", {r: v[key] for r, v in values.items() if key in v})
                for key in keys
            }
        parameter = self.parameters.get(path, self.parameters.get(path.rpartition(".")[0], ""))
        # A tensor without axes, such as a number of steps, is never divided.
        has_axes = isinstance(first, (np.ndarray, Tensor)) and first.ndim > 0
        if has_axes and parameter in self.saved[rank]:
            pieces = {r: self.saved[r][parameter] for r in values}
            parts = {tuple(pieces[r][1:3]): np.asarray(value) for r, value in values.items()}
            first = np.concatenate([parts[place] for place in sorted(parts)], pieces[rank][0])
        elif any(_bits(value) != _bits(first) for value in values.values()):
            raise ValueError(
                f"load_training: {path} differs between the ranks that saved it; it can be resumed "
                f"only on {len(self.saved)} ranks, with the weights divided in the same way"
            )
        if has_axes and parameter in self.wanted:
            return first[along(*self.wanted[parameter][:3])]
        return first


def _bits(value: Any) -> Any:
    """What is equal for values that are equal bit for bit."""
    arrays = (np.ndarray, Tensor)
    return structure(
        value, lambda leaf: _digest(np.asarray(leaf)) if isinstance(leaf, arrays) else leaf
    )
