"""`torch.nn.init`: fills tensors in place, with PyTorch's names and orders."""

from __future__ import annotations

from typing import Any

from minigrad.nn import init as ours
from minigrad.torch.build import made
from minigrad.torch.modules import missing as _missing
from minigrad.torch.random import drawing

__getattr__ = _missing(__name__)

LINES = """
constant_(tensor, val) => ours.constant(tensor, val)
dirac_(tensor, groups=1) => ours.dirac(tensor, groups)
eye_(tensor) => ours.eye(tensor)
kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu") => ours.kaiming_normal(tensor, mode, nonlinearity=nonlinearity, a=a)
kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu") => ours.kaiming_uniform(tensor, mode, nonlinearity=nonlinearity, a=a)
normal_(tensor, mean=0.0, std=1.0) => ours.normal(tensor, mean, std)
ones_(tensor) => ours.ones(tensor)
orthogonal_(tensor, gain=1) => ours.orthogonal(tensor, gain)
sparse_(tensor, sparsity, std=0.01) => ours.sparse(tensor, sparsity, std)
trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0) => ours.trunc_normal(tensor, mean, std, a, b)
uniform_(tensor, a=0.0, b=1.0) => ours.uniform(tensor, a, b)
xavier_normal_(tensor, gain=1.0) => ours.xavier_normal(tensor, gain)
xavier_uniform_(tensor, gain=1.0) => ours.xavier_uniform(tensor, gain)
zeros_(tensor) => ours.zeros(tensor)
"""
"""Each of them takes `generator` too."""


def calculate_gain(nonlinearity: Any, param: Any = None) -> float:
    """The gain for a function after a layer; that of a layer is 1."""
    layer = str(nonlinearity).startswith("conv")
    return ours.calculate_gain("linear" if layer else nonlinearity, param)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    return ours.fans("fans", tensor)


def _drawn(function: Any, tensor: Any, generator: Any) -> Any:
    with drawing(generator):
        return function(tensor)


for _line in LINES.strip().splitlines():
    _call, _, _value = _line.partition(") => ")
    _line = f"{_call}, generator=None) => drawn(lambda tensor: {_value}, tensor, generator)"
    _function = made(_line, {"ours": ours, "drawn": _drawn}, __name__)
    globals()[_function.__name__] = globals()[_function.__name__[:-1]] = _function
