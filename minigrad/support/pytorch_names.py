"""minigrad's names for PyTorch's, for the messages of errors only.

minigrad has NumPy's names for arrays and Lucid's for modules. A name or a keyword of PyTorch's is
an error that says the own name, and where PyTorch's is: in `minigrad.torch`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

__all__ = ["METHODS", "Elsewhere", "keyword_advice", "names", "refuse"]

KEYWORDS = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "start_dim": "start_axis",
    "end_dim": "end_axis", "dim1": "axis1", "dim2": "axis2", "shifts": "shift", "diagonal": "k",
    "end": "stop", "steps": "num", "interpolation": "method", "unbiased": "ddof",
    "correction": "ddof", "min_value": "min", "max_value": "max", "rcond": "rtol",
    "nhead": "num_heads", "memory_mask": "mem_mask",
    "memory_key_padding_mask": "mem_key_padding_mask", "memory_is_causal": "mem_is_causal",
}  # fmt: skip
"""Keywords of PyTorch's, some of Lucid 2's, and ours."""

METHODS = {
    "absolute": "abs", "acos": "arccos", "amax": "max", "amin": "min", "asin": "arcsin",
    "atan": "arctan", "bmm": "matmul", "clamp": "clip", "clamp_": "clip_", "clamp_max": "clip",
    "clamp_min": "clip", "contiguous": "the tensor itself", "copy_": "x[...] = values",
    "cuda": "nothing: minigrad runs on the CPU", "det": "linalg.det", "dim": "ndim",
    "element_size": "dtype.itemsize", "eq": "==", "expand_as": "broadcast_to",
    "fill_": "x[...] = value", "ge": ">=", "gt": ">", "index_select": "take",
    "inverse": "linalg.inv", "le": "<=", "lt": "<", "masked_fill_": "x[mask] = value",
    "mm": "matmul", "movedim": "moveaxis", "mul": "multiply", "mv": "matmul", "narrow": "a slice",
    "ne": "!=", "neg": "negative", "nelement": "size", "normal_": "nn.init.normal",
    "numel": "size", "permute": "transpose", "pow": "power", "repeat_interleave": "repeat",
    "sub": "subtract", "t": "T", "take_along_dim": "take_along_axis", "type": "astype",
    "uniform_": "nn.init.uniform", "view": "reshape", "view_as": "reshape", "zero_": "x[...] = 0",
}  # fmt: skip
"""Methods of PyTorch's tensors, many of which are functions too, and what to write here."""

FUNCTIONS = {
    "cat": "concatenate", "concat": "concatenate", "from_numpy": "tensor",
    "manual_seed": "random.seed",
    "MultiheadAttention": "MultiHeadAttention", "randperm": "random.permutation",
}  # fmt: skip
"""Functions and classes of PyTorch's, and ours. ``init.normal_`` is ``init.normal`` here."""


def keyword_advice(given: Iterable[str], known: Sequence[str]) -> str:
    """Advice for an error: minigrad's names for keywords of PyTorch's; "" if there are none."""
    pairs = [(key, KEYWORDS.get(key)) for key in given if key not in known]
    ours = [f"{own}= for {key}=" for key, own in pairs if own in known]
    return f"; write {', '.join(ours)}, or use minigrad.torch" if ours else ""


def names(
    module: str, known: Sequence[str], own: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with these public names: an error that knows PyTorch's.

    Args:
        module: Its path, without ``minigrad.``.
        known: Its public names.
        own: The ``__getattr__`` that the module has already, which is asked first.
    """

    def __getattr__(name: str) -> Any:
        if own is not None:
            with suppress(AttributeError):
                return own(name)
        refuse(f"minigrad.{module}", name, known)

    return __getattr__


def refuse(path: str, name: str, known: Sequence[str]) -> NoReturn:
    """Raise the AttributeError of a module, with our name and the place of PyTorch's."""
    import difflib  # late, as all that only an error needs
    from importlib.util import find_spec

    message = f"{path} has no {name!r}"
    with suppress(ModuleNotFoundError):  # of a module that is not a package
        if name.startswith("_") or find_spec(f"{path}.{name}"):  # Python asks before it imports
            raise AttributeError(message)
    hints = []
    table = {**METHODS, **FUNCTIONS} if path == "minigrad" else FUNCTIONS
    plain = name.removesuffix("_")
    ours = plain if plain in known else table.get(name)
    if ours is not None and (ours in known or path == "minigrad"):
        hints.append(f"here it is {ours}")
    door = path.replace("minigrad", "minigrad.torch", 1)
    with suppress(ImportError):
        if hasattr(importlib.import_module(door), name):
            hints.append(f"PyTorch's is {door}.{name}")
    if not hints and (near := difflib.get_close_matches(name, known, 3, 0.7)):
        hints.append(f"did you mean {' or '.join(near)}?")
    raise AttributeError(message + (f": {'; '.join(hints)}" if hints else ""))


class Elsewhere:
    """A method of PyTorch's in the class of our tensors: no attribute, but an error that helps.

    A ``__getattr__`` would make Python read every attribute of a tensor four times slower.
    """

    def __init__(self, name: str, ours: str) -> None:
        self.name, self.ours = name, ours

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"Tensor has no {self.name!r}: here it is {self.ours}; PyTorch's is "
            f"minigrad.torch.Tensor.{self.name}"
        )
