"""What a line of the table computes with, where one expression is not enough."""

import contextlib
import functools
import math
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

import minigrad as ours
from minigrad.ops.sorting import ValuesAndIndices
from minigrad.support.checks import on_cpu
from minigrad.tensors.creation import Device
from minigrad.tensors.inplace import overwritten
from minigrad.tensors.tensor import Tensor

__all__ = ["VALUES", "found", "namespace"]


def device(name: Any, index: int | None = None) -> Device:
    """The device "cpu", or the name of another, which every use refuses."""
    return Device(name)


VALUES: dict[str, Any] = {
    "inf": math.inf,
    "pi": math.pi,
    "e": math.e,
    "nan": math.nan,
    "newaxis": None,
    **dict.fromkeys(("channels_last", "contiguous_format", "preserve_format", "strided")),
    "dtype": np.dtype,
    "cuda": types.SimpleNamespace(
        is_available=lambda: False,
        device_count=lambda: 0,
        manual_seed=lambda seed: None,
        manual_seed_all=lambda seed: None,
        empty_cache=lambda: None,
        synchronize=lambda: None,
    ),
    "backends": types.SimpleNamespace(
        cudnn=types.SimpleNamespace(benchmark=False, deterministic=False, enabled=False),
        mps=types.SimpleNamespace(is_available=lambda: False, is_built=lambda: False),
    ),
}


def found(path: str) -> Any:
    """What stands at a path such as ``nn.init.normal``, or in this file."""
    first, *rest = path.split(".")
    value: Any = ANSWERS if first == "answers" else ours
    for name in rest if first == "answers" else (first, *rest):
        value = value[name] if isinstance(value, dict) else getattr(value, name)
    return value


@contextlib.contextmanager
def autocast(device_type: str = "cpu", *, enabled: bool = True, **options: Any) -> Iterator[None]:
    """Nothing, where it is not enabled; there is no automatic mixed precision."""
    if enabled:
        raise RuntimeError("autocast: there is no mixed precision here; pass enabled=False")
    yield


def checkpoint(
    function: Any, *args: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """`autograd.checkpoint`, in which random numbers are always the same in both runs."""
    return ours.autograd.checkpoint(function, *args, **kwargs)


class set_detect_anomaly(contextlib.ExitStack):
    """`detect_anomaly` from here on, or, in a ``with`` statement, within it."""

    running: ClassVar[contextlib.ExitStack | None] = None

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        if set_detect_anomaly.running is not None:
            set_detect_anomaly.running.close()
        set_detect_anomaly.running = self if mode else None
        if mode:
            self.enter_context(ours.detect_anomaly())


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """`clip_grad_norm` with PyTorch's 1e-6 in the divisor, and the norm as a tensor."""
    norm = ours.nn.utils.clip_grad_norm(
        parameters, max_norm, norm_type, 1e-6, error_if_nonfinite=error_if_nonfinite
    )
    return ours.tensor(norm)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs a weight has: fan_in, fan_out."""
    return ours.nn.init.fans("fans", tensor)


def decorator(function: Any = None, **options: Any) -> Any:
    """A decorator that leaves the function as it is; called with or without parentheses."""
    return function or decorator


@functools.cache
def unmade(name: str, why: str) -> type:
    """A layer that can be named, as in ``isinstance(layer, nn.Conv3d)``, and not made."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"minigrad.nn has no {name!r}: {why}")

    return type(name, (ours.nn.Module,), {"__init__": refuse})


def refuse_gpu(device: Any) -> NoReturn:
    """An error: there is no GPU."""
    raise RuntimeError(
        f"cuda: minigrad runs on the CPU; leave .cuda() and .gpu() out (got {device!r})"
    )


def tuple_of(dim: Any) -> Any:
    """Axes as a tuple, if they came as a list."""
    return tuple(dim) if isinstance(dim, list) else dim


def reduced(dim: Any) -> Any:
    """The axes of a reduction as a tuple; no axes mean all, as in PyTorch."""
    return (tuple(dim) or None) if isinstance(dim, (tuple, list)) else dim


def typed(data: tuple[Any, ...], dtype: Any) -> Tensor:
    """A tensor of the data, in a dtype; PyTorch's constructor by lengths is refused."""
    if len(data) != 1 or isinstance(data[0], int):
        given = ", ".join(map(repr, data))
        raise TypeError(
            f"{dtype}: one list or array expected, got ({given}); for a shape write "
            f"empty({given}, dtype={dtype})"
        )
    return ours.tensor(data[0], dtype=dtype)


def view(x: Tensor, shape: tuple[Any, ...]) -> Tensor:
    """`reshape`; PyTorch's view of the bytes as another dtype is refused."""
    if len(shape) == 1 and isinstance(shape[0], np.dtype):
        raise TypeError(f"view: a shape expected, got {shape[0]}; .astype() converts numbers")
    return x.reshape(*shape)


def t(x: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays."""
    if x.ndim > 2:
        raise ValueError(f"t: at most 2 axes expected, got shape {x.shape}; .mT swaps the last two")
    return x.T


def part(x: Tensor, dim: int, index: Any) -> Tensor:
    """Index along one axis."""
    return x[(slice(None),) * (dim % x.ndim) + (index,)]


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One axis into several."""
    dim %= x.ndim
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def split(x: Tensor, size: Any, dim: int) -> tuple[Tensor, ...]:
    """Pieces of a size, or of several sizes."""
    if isinstance(size, int):
        return x.split(list(range(size, x.shape[dim], size)), dim)
    if sum(size) != x.shape[dim]:
        raise ValueError(f"split: sizes {list(size)} of an axis of length {x.shape[dim]}")
    return x.split([int(n) for n in np.cumsum(size)[:-1]], dim)


def ddof(unbiased: bool, correction: int | None) -> int:
    """How many degrees of freedom are lost."""
    return int(unbiased) if correction is None else correction


def lower_median(x: Tensor, dim: int, keepdim: bool) -> ValuesAndIndices:
    """The lower of the two middle ones, or the first NaN, and where it stands."""
    n, order = x.shape[dim], x.argsort(dim)  # NaN stands last
    nans = ours.isnan(x).sum(dim, True)
    index = order.take_along_axis(ours.where(nans > 0, n - nans, (n - 1) // 2), dim)
    values = x.take_along_axis(index, dim)
    if not keepdim:
        values, index = values.squeeze(dim), index.squeeze(dim)
    return ValuesAndIndices(values, index)


def vector_norm(x: Tensor, p: Any, dim: Any, keepdim: bool) -> Tensor:
    """The norm of vectors, or of all elements."""
    if p == "fro":
        p = 2
    return x.norm(p, tuple_of(dim), keepdim)


def div(x: Any, other: Any, rounding_mode: str | None) -> Tensor:
    """A quotient, perhaps rounded."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f'div: rounding_mode None, "floor" or "trunc", got {rounding_mode!r}')
    if rounding_mode is None:
        return ours.divide(x, other)
    floor = ours.floor_divide(x, other)
    if rounding_mode == "floor":
        return floor
    if floor.dtype.kind == "f":
        return ours.trunc(ours.divide(x, other))
    return floor + ((floor < 0) & (floor * other != x))


def scaled(x: Tensor, by: float) -> Any:
    """A term of a sum; none if it is multiplied by 0, whatever it holds."""
    return x if by == 1 else 0 if by == 0 else x * by


def write(x: Tensor, value: Any) -> Tensor:
    """In place: all elements."""
    return overwritten(x, copy_, value)


def copy_(x: Tensor, value: Any) -> Tensor:
    return ours.broadcast_to(as_tensor(value, None, None), x.shape)


def converted(x: Tensor, target: tuple[Any, ...], dtype: Any, device: Any, copy: bool) -> Tensor:
    """To a dtype, a device, or those of another tensor."""
    for what in (*target, dtype, device):
        if isinstance(what, Tensor):
            x = x.astype(what.dtype)
        elif what is not None:
            x = x.to(what)
    return x.clone() if copy else x


def loaded(path: Any, device: Any) -> Any:
    """The content of a file, on the CPU."""
    on_cpu(device)
    return ours.load(path)


def checked(condition: Any, message: str) -> None:
    """An AssertionError with the message, unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def is_array(value: Any) -> bool:
    """Whether it is an array or a tensor with axes."""
    return bool(getattr(value, "shape", ()))


def is_bool(value: Any) -> bool:
    """Whether it is True or False."""
    return isinstance(value, bool)


def as_tensor(data: Any, dtype: Any, device: Any) -> Tensor:
    """A tensor of the data; a tensor stays itself."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.astype(dtype)
    return ours.tensor(data, dtype=dtype, device=device)


@functools.cache
def namespace() -> dict[str, Any]:
    """The names that a line of the table can use: our public ones, and those of this file."""
    return {**{name: getattr(ours, name) for name in dir(ours)}, **globals(), "bool": bool}


def _kaiming(name: str) -> Any:
    """PyTorch's order of the arguments of an initialization."""

    def call(
        tensor: Tensor, a: float = 0.0, mode: Any = "fan_in", nonlinearity: str = "leaky_relu"
    ) -> Tensor:
        fill = getattr(ours.nn.init, name)
        filled: Tensor = fill(tensor, mode, nonlinearity=nonlinearity, a=a)
        return filled

    return call


ANSWERS: dict[str, Any] = {
    "autocast": autocast,
    "checkpoint": checkpoint,
    "clip_grad_norm_": clip_grad_norm_,
    "kaiming_uniform_": _kaiming("kaiming_uniform"),
    "kaiming_normal_": _kaiming("kaiming_normal"),
    "set_detect_anomaly": set_detect_anomaly,
    "fans": fans,
    "typing": typing,
    "jit": types.SimpleNamespace(
        is_scripting=lambda: False,
        is_tracing=lambda: False,
        **dict.fromkeys(("_overload_method", "export", "ignore", "script", "unused"), decorator),
    ),
}
