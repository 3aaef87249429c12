"""Initialization of parameters.

Every function fills the given tensor in place and returns it. Random numbers come from
`minigrad.random`, or from `generator`. The names without ``_`` are Lucid 2's.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from minigrad import random
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes
from minigrad.ops.argument_errors import checked
from minigrad.support.checks import check_choice, check_number, check_probability, check_size
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
    "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones", "ones_",
    "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal", "trunc_normal_", "uniform",
    "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros",
    "zeros_",
]  # fmt: skip

FanMode = Literal["fan_in", "fan_out"]


@checked
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples from the uniform distribution on [a, b).

    Example:
        >>> from minigrad import nn, empty
        >>> weight = nn.init.uniform_(empty(3, 5), -0.1, 0.1)
        >>> weight.min() >= -0.1, weight.max() < 0.1
        (tensor(True), tensor(True))
    """
    a, b = check_number("uniform_", "a", a), check_number("uniform_", "b", b, a)
    return _write("uniform_", tensor, _numbers(generator).uniform(a, b, tensor._whole_shape))


@checked
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples from the normal distribution of this mean and standard deviation.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.normal_(empty(3, 5), std=0.02).shape
        minigrad.Size([3, 5])
    """
    mean, std = check_number("normal_", "mean", mean), check_number("normal_", "std", std, 0.0)
    return _write("normal_", tensor, _numbers(generator).normal(mean, std, tensor._whole_shape))


@checked
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with a number.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.constant_(empty(2), 7.0).tolist()
        [7.0, 7.0]
    """
    return _write("constant_", tensor, val)


@checked
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.zeros_(empty(2)).tolist()
        [0.0, 0.0]
    """
    return _write("zeros_", tensor, 0.0)


@checked
def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.ones_(empty(2)).tolist()
        [1.0, 1.0]
    """
    return _write("ones_", tensor, 1.0)


@checked
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: 1 on the diagonal, 0 elsewhere.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.eye_(empty(2, 3)).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    refuse_shapes(tensor.ndim != 2, "eye_", "a matrix", tensor)
    rows, columns = tensor._whole_shape
    return _write("eye_", tensor, np.eye(rows, columns))


@checked
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it keeps as many channels as it can.

    Args:
        tensor: Shape (O, C / groups, K) or (O, C / groups, K, K'): 1 in the middle of the kernel
            that maps channel i of a group to channel i, 0 elsewhere.
        groups: The number of groups.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.dirac_(empty(2, 2, 3)).tolist()
        [[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    groups = check_size("dirac_", "groups", groups)
    wanted = f"the weight of a convolution, whose channels groups={groups} divides,"
    shape = tensor._whole_shape
    refuse_shapes(not 3 <= tensor.ndim <= 5 or shape[0] % groups, "dirac_", wanted, tensor)
    values, own = np.zeros(shape), shape[0] // groups
    middle: Any = (..., *(n // 2 for n in shape[2:]))
    for channel in range(min(own, shape[1])):
        values[channel::own, channel][middle] = 1.0
    return _write("dirac_", tensor, values)


@checked
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normally distributed numbers, and a part of each column with zeros.

    Source: Martens, "Deep learning via Hessian-free optimization", 2010.

    Args:
        tensor: A matrix; written in place.
        sparsity: The part of each column that is 0, rounded up.
        std: The standard deviation of the others.
        generator: Where the random numbers come from.

    Example:
        >>> from minigrad import nn, empty
        >>> (nn.init.sparse_(empty(4, 3), sparsity=0.5) == 0).sum(dim=0).tolist()
        [2, 2, 2]
    """
    refuse_shapes(tensor.ndim != 2, "sparse_", "a matrix", tensor)
    check_probability("sparse_", "sparsity", sparsity)
    check_number("sparse_", "std", std, 0.0)
    numbers = _numbers(generator)
    values = numbers.normal(0.0, std, tensor._whole_shape)
    rows, columns = tensor._whole_shape
    order = numbers.random((rows, columns)).argsort(axis=0)
    values[order[: math.ceil(sparsity * rows)], np.arange(columns)] = 0.0
    return _write("sparse_", tensor, values)


@checked
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill with normally distributed samples; those outside of [a, b] are drawn again.

    Example:
        >>> from minigrad import nn, empty
        >>> weight = nn.init.trunc_normal_(empty(100), std=0.02, a=-0.04, b=0.04)
        >>> float(abs(weight).max()) <= 0.04
        True
    """
    name = "trunc_normal_"
    check_number(name, "mean", mean)
    check_number(name, "std", std, above=0.0)
    check_number(name, "b", b, above=check_number(name, "a", a))
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    if high - low < 1e-3:
        raise ValueError(f"{name}: hardly any sample of mean {mean} and std {std} is in {a} to {b}")
    numbers = _numbers(generator)
    values = numbers.normal(mean, std, math.prod(tensor._whole_shape))
    outside = np.flatnonzero((values < a) | (values > b))
    while outside.size:
        values[outside] = numbers.normal(mean, std, outside.size)
        outside = outside[(values[outside] < a) | (values[outside] > b)]
    return _write(name, tensor, values.reshape(tensor._whole_shape))


@checked
def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with a random matrix whose rows, or whose columns if they are fewer, are orthonormal.

    All axes but the first are the columns. `gain` is the length of the rows or columns.

    Source: Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks", 2014.

    Example:
        >>> from minigrad import nn, empty
        >>> weight = nn.init.orthogonal_(empty(3, 5))
        >>> (weight @ weight.T).round(decimals=4).abs().sum().item()
        3.0
    """
    fans("orthogonal_", tensor)
    gain = check_number("orthogonal_", "gain", gain)
    rows = tensor._whole_shape[0]
    columns = math.prod(tensor._whole_shape[1:])
    drawn = _numbers(generator).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.copysign(1.0, np.diagonal(r))  # so that every such matrix is equally likely
    values = gain * (q if rows >= columns else q.T)
    return _write("orthogonal_", tensor, values.reshape(tensor._whole_shape))


@checked
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill by Xavier (Glorot) initialization with a uniform distribution.

    The bounds are ±gain · √(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.

    Args:
        tensor: A tensor of shape (fan_out, fan_in, ...); written in place.
        gain: The factor for the activation that follows: see `calculate_gain`.
        generator: Where the random numbers come from.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.xavier_uniform_(empty(3, 5)).max() <= (6 / 8) ** 0.5
        tensor(True)
    """
    fan_in, fan_out = fans("xavier_uniform_", tensor)
    gain = check_number("xavier_uniform_", "gain", gain, 0.0)
    bound = gain * math.sqrt(6.0 / max(1, fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


@checked
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill by Xavier (Glorot) initialization with a normal distribution.

    The arguments are those of `xavier_uniform_`.

    The standard deviation is gain · √(2 / (fan_in + fan_out)).

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.xavier_normal_(empty(3, 5)).shape
        minigrad.Size([3, 5])
    """
    fan_in, fan_out = fans("xavier_normal_", tensor)
    gain = check_number("xavier_normal_", "gain", gain, 0.0)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / max(1, fan_in + fan_out)), generator)


@checked
def kaiming_uniform_(
    tensor: Tensor, a: float | None = 0.0, mode: FanMode = "fan_in",
    nonlinearity: str = "leaky_relu", generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill by Kaiming (He) initialization with a uniform distribution.

    The bounds are ±gain · √(3 / fan).

    Source: He et al., "Delving deep into rectifiers", 2015.

    Args:
        tensor: A tensor of shape (fan_out, fan_in, ...); written in place.
        a: The negative slope of "leaky_relu"; 0 is "relu", None 0.01.
        mode: Keep the variance of the forward ("fan_in") or the backward ("fan_out") pass.
        nonlinearity: The activation that follows: see `calculate_gain`.
        generator: Where the random numbers come from.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.kaiming_uniform_(empty(3, 6)).max() <= 1.0
        tensor(True)
    """
    fan = _fan("kaiming_uniform_", tensor, mode)
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / fan)
    return uniform_(tensor, -bound, bound, generator)


@checked
def kaiming_normal_(
    tensor: Tensor, a: float | None = 0.0, mode: FanMode = "fan_in",
    nonlinearity: str = "leaky_relu", generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill by Kaiming (He) initialization with a normal distribution.

    The arguments are those of `kaiming_uniform_`.

    The standard deviation is gain / √fan.

    Example:
        >>> from minigrad import nn, empty
        >>> nn.init.kaiming_normal_(empty(3, 5), mode="fan_out").shape
        minigrad.Size([3, 5])
    """
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan("kaiming_normal_", tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform(
    tensor: Tensor, mode: FanMode = "fan_in", *, nonlinearity: str = "leaky_relu",
    a: float | None = 0.0,
) -> Tensor:  # fmt: skip
    """Call `kaiming_uniform_` with Lucid 2's order of arguments."""
    return kaiming_uniform_(tensor, a, mode, nonlinearity)


def kaiming_normal(
    tensor: Tensor, mode: FanMode = "fan_in", *, nonlinearity: str = "leaky_relu",
    a: float | None = 0.0,
) -> Tensor:  # fmt: skip
    """Call `kaiming_normal_` with Lucid 2's order of arguments."""
    return kaiming_normal_(tensor, a, mode, nonlinearity)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain for "linear", "sigmoid", "tanh", "relu", "leaky_relu" or "selu".

    `param` is the negative slope of "leaky_relu", 0.01 by default; "conv2d" and others are linear.

    Example:
        >>> from minigrad import nn
        >>> round(nn.init.calculate_gain("relu"), 4)
        1.4142
    """
    slope = 0.01 if param is None else check_number("calculate_gain", "param", param)
    if nonlinearity in ("conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d"):
        nonlinearity = "linear"
    gains = {
        "linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3.0, "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1.0 + slope**2)), "selu": 0.75,
    }  # fmt: skip
    check_choice("calculate_gain", "nonlinearity", nonlinearity, gains)
    return gains[nonlinearity]


def fans(name: str, tensor: Tensor) -> tuple[int, int]:
    """Compute fan_in and fan_out of a weight."""
    refuse_shapes(tensor.ndim < 2, name, "a shape (fan_out, fan_in, ...)", tensor)
    window = math.prod(tensor._whole_shape[2:])
    return tensor._whole_shape[1] * window, tensor._whole_shape[0] * window


def _fan(name: str, tensor: Tensor, mode: str) -> int:
    check_choice(name, "mode", mode, ("fan_in", "fan_out"))
    fan_in, fan_out = fans(name, tensor)
    return max(1, fan_in if mode == "fan_in" else fan_out)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """PyTorch's name of `fans`, which many programs call."""
    return fans("_calculate_fan_in_and_fan_out", tensor)


def _numbers(generator: Any) -> np.random.Generator:
    """Where random numbers come from: a generator of one's own, or that of `minigrad.random`."""
    return generator if isinstance(generator, np.random.Generator) else random.generator()


def _write(name: str, tensor: Tensor, values: Any) -> Tensor:
    wrong = not np.can_cast(np.float32, tensor.dtype, "same_kind")
    refuse_dtypes(wrong, name, "a floating-point tensor", tensor)
    assign(tensor, tensor._own_part(values), name)
    return tensor


# Lucid 2's names.
constant, dirac, eye, ones, zeros = constant_, dirac_, eye_, ones_, zeros_
normal, uniform, trunc_normal, sparse = normal_, uniform_, trunc_normal_, sparse_
orthogonal, xavier_normal, xavier_uniform = orthogonal_, xavier_normal_, xavier_uniform_
