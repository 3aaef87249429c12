"""minigrad: function transforms, as they are."""

from collections.abc import Callable
from typing import Any

from _functions import Call, Library, task
from _work import Size, Task

import minigrad
import minigrad.nn.functional as F
from minigrad import nn, vmap
from minigrad.func import functional_call, grad, hessian, jacrev, jvp


def encoder(size: Size) -> Call:
    layer = nn.TransformerEncoderLayer(size.width, size.heads, size.hidden, 0.0)
    names = list(layer.state_dict())

    def call(weights: dict[str, Any], x: Any) -> Any:
        given = unpacked(weights)
        return functional_call(layer, {name: given[name] for name in names}, (x,))

    return call


def unpacked(weights: dict[str, Any]) -> dict[str, Any]:
    """The weights of a layer by their names here: one for queries, keys and values each."""
    found = {}
    for name, value in weights.items():
        if "in_proj_" in name:
            for letter, part in zip("qkv", minigrad.chunk(value, 3), strict=True):
                found[name.replace("in_proj_", f"{letter}_proj.")] = part
        else:
            found[name] = value
    return found


def transform(name: str, small: bool, prepared: Callable[[Call], Call] = lambda call: call) -> Task:
    library = Library(F, minigrad.tensor, encoder, vmap, grad, jacrev, hessian, jvp)
    return task(library, name, small, prepared)
