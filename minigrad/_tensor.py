"""Where Lucid has its class."""

from minigrad.tensors.tensor import Tensor as Tensor
