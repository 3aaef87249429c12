"""Checks of options and arrays, and optional packages."""

import importlib
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def check_size(owner: str, name: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least `least` as an int, or raise a TypeError or a ValueError."""
    if getattr(value, "ndim", None) == 0 and value.dtype.kind in "iu":
        value = value.item()  # of NumPy's integer, or of a tensor
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{owner}: {name} must be an int, got {value!r}")
    if value < least:
        raise ValueError(f"{owner}: {name} must be at least {least}, got {value}")
    return value


def check_sizes(owner: str, name: str, value: Any, count: int, least: int = 1) -> tuple[int, ...]:
    """Return one whole number for each of `count` axes; a single one, or one of 1, is for all.

    Anything else is a TypeError or a ValueError, as in `check_size`.
    """
    if value.__class__ is tuple and [n.__class__ for n in value] == [int] * count and (
        min(value, default=least) >= least
    ):  # fmt: skip
        return value  # the usual case
    if not isinstance(value, Sequence) or isinstance(value, str):
        value = [value]
    if len(value) == 1:
        return (check_size(owner, name, value[0], least),) * count
    if len(value) != count:
        raise ValueError(
            f"{owner}: {name} must be an int or {count} ints, one for each axis, got {value!r}"
        )
    return tuple(check_size(owner, name, size, least) for size in value)


def check_number(
    owner: str, name: str, value: Any, least: float = -math.inf, *, above: float = -math.inf,
    below: float = math.inf, infinite: bool = False,
) -> float:  # fmt: skip
    """Return a number >= `least`, > `above` and < `below` as a float; otherwise a ValueError.

    It must be finite; with `infinite`, inf is allowed.
    """
    if type(value) is float and least <= value < below and value > above:
        return value
    number = isinstance(value, (int, float, np.integer, np.floating))
    number = number and not isinstance(value, bool)
    if number and infinite and value == math.inf:
        return math.inf
    if not (number and least <= value < below and value > above):
        bounds = [("of at least", least), ("above", above), ("below", below)]
        limits = " and ".join(f"{word} {bound}" for word, bound in bounds if math.isfinite(bound))
        wanted = f"a number {limits}" if limits else "a finite number"
        raise ValueError(f"{owner}: {name} must be {wanted}, got {value!r}")
    return float(value)


def check_probability(owner: str, name: str, value: Any) -> float:
    """Return a number from 0 to 1 as a float; otherwise a ValueError."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and 0 <= value <= 1):
        raise ValueError(f"{owner}: {name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return True or False; 1 and 0 count as them, but not the string "False", which is truthy."""
    plain = value is True or value is False
    if not plain and (not isinstance(value, (np.bool_, int)) or value not in (0, 1)):
        raise TypeError(f"{owner}: {name} must be True or False, got {value!r}")
    return bool(value)


def check_divisible(owner: str, **sizes: int) -> None:
    """Raise a ValueError if the first of two sizes is not divisible by the second."""
    (whole, count), (part, size) = sizes.items()
    if count % size:
        raise ValueError(f"{owner}: {whole} must be divisible by {part}, got {count}, {size}")


def check_choice(owner: str, name: str, value: Any, choices: Iterable[Any]) -> Any:
    """Return a value that is one of those that there are; otherwise a ValueError."""
    known = list(choices)
    if value not in known:
        *most, last = (f'"{each}"' if isinstance(each, str) else str(each) for each in known)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"{owner}: {name} must be {listed}, got {value!r}")
    return value


def check_function(owner: str, value: Any) -> None:
    """Raise a TypeError unless it is a function, of which a transform makes another one."""
    if isinstance(value, type):
        raise TypeError(f"{owner}: a function or a module expected, got the class {value.__name__}")
    if not callable(value):
        raise TypeError(
            f"{owner}: a function expected, got {type(value).__name__}; tensors that were computed "
            f"already are differentiated by autograd.grad"
        )


def fitted(array: np.ndarray, dtype: np.dtype[Any], name: str = "") -> np.ndarray:
    """Convert an array to another dtype, if that dtype can represent all values.

    Floats converted to integers lose their fraction, as in NumPy. `name` is what errors name.
    """
    if dtype.kind in "iu" and array.size and not np.can_cast(array.dtype, dtype):
        limits, owner = np.iinfo(dtype), name and f"{name}: "
        for value in (array.min().item(), array.max().item()):
            if value != value:
                raise ValueError(f"{owner}NaN cannot be converted to {dtype}")
            if not limits.min - 1 < value < limits.max + 1:  # exact with Python numbers
                raise OverflowError(
                    f"{owner}{value} does not fit into {dtype}, whose range is {limits.min} to "
                    f"{limits.max}"
                )
    return array.astype(dtype, copy=False)


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape to which shapes broadcast, None if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def optional_package(owner: str, name: str, install: str = "") -> Any:
    """Import a module of an optional package; an ImportError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        package = install or name.partition(".")[0]
        raise ImportError(f"{owner}: {package} is missing: pip install {package}") from None


def module_of(thing: Any) -> str:
    """The name of the module of a function or a class; "" if it has none, as code from `exec`."""
    if isinstance(thing, np.ufunc):  # which has one since NumPy 2.1
        return "numpy"
    return str(getattr(thing, "__module__", None) or "")


def on_cpu(device: Any) -> None:
    """Refuse every device except the CPU."""
    named = getattr(device, "type", device)
    if named is not None and str(named) not in ("cpu", "cpu:0"):
        raise ValueError(f'minigrad runs on the CPU only: device="cpu" expected, got {device!r}')


def shape_of(name: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape given as ``f(2, 3)`` or ``f((2, 3))``."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    if all(n.__class__ is int and n >= 0 for n in shape):
        return tuple(shape)
    try:  # a tensor or an array without axes can be a length
        lengths = tuple(map(operator.index, shape))
    except TypeError:
        lengths = (-1,)
    if bool in map(type, shape) or min(lengths, default=0) < 0:
        raise TypeError(f"{name}: a shape is made of integers of at least 0, got {shape}")
    return lengths
