"""`torch.nn.utils.parametrize`: a parameter that is a module's result."""

from typing import Any

from minigrad.nn.utils import parametrize as ours
from minigrad.nn.utils.parametrize import is_parametrized as is_parametrized
from minigrad.torch.answers import block
from minigrad.torch.nn.classes import adopt_module

cached = block


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Make a parameter the result of a module."""
    return adopt_module(ours.register_parametrization(module, tensor_name, parametrization))


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make it a parameter again."""
    return adopt_module(ours.remove_parametrizations(module, tensor_name, leave_parametrized))
