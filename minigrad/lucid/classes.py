"""The class of tensors is minigrad's."""

from typing import Any

from minigrad.tensors.tensor import Tensor as Tensor


def adopt(value: Any) -> Any:
    return value


def adopting(function: Any) -> Any:
    return function
