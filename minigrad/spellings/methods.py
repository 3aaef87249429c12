"""Methods of tensors in other libraries' spellings.

Each name of the table is an attribute of `Tensor`. A ``__getattr__`` would need no list of names,
but Python would then read every attribute of a tensor four times slower.
"""

from inspect import getattr_static
from typing import Any

from minigrad.spellings.table import ABSENT, ATTRIBUTES, FUNCTIONS
from minigrad.support import spelling
from minigrad.tensors.tensor import Tensor


class OtherSpelling:
    """A name that is not ours: what the table says, or why there is no such method."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        if tensor is None and self.name in ABSENT:
            raise AttributeError(f"Tensor has no {self.name!r}: {ABSENT[self.name]}")
        return self if tensor is None else spelling.table().method(tensor, self.name)

    def __call__(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        """Call it as a function, as in ``Tensor.permute(x, 1, 0)``."""
        return getattr(tensor, self.name)(*args, **kwargs)


def _own_names(tensor: Tensor) -> list[str]:
    """What ``dir(tensor)`` lists: our names only."""
    kind = type(tensor)
    names = object.__dir__(tensor)
    return [n for n in names if not isinstance(getattr_static(kind, n, None), OtherSpelling)]


def install() -> None:
    """Give `Tensor` the names of the table, and those of in-place forms that do not exist."""
    lines = [line.partition("(") for line in FUNCTIONS.strip().splitlines()]
    theirs = {name for name, _, rest in lines if rest.startswith(("self", "input"))}
    plain = {name for name in (*vars(Tensor), *theirs) if not name.startswith("_")}
    in_place = {f"{name}_" for name in plain if not name.endswith("_")}
    for name in {*theirs, *in_place, *ATTRIBUTES, *ABSENT} - {*dir(Tensor)}:
        setattr(Tensor, name, OtherSpelling(name))
    Tensor.__dir__ = _own_names  # type: ignore[assignment, method-assign]
