"""minigrad: function transforms, as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _work import Task, function_arrays

import minigrad
import minigrad.nn.functional as F
from minigrad import nn, vmap
from minigrad.autograd.functional import grad, hessian, jacobian, jvp
from minigrad.nn.utils import functional_call

Call = Callable[..., Any]


def plain(call: Call) -> Call:
    """The call as it is; `ours_functions_captured` has another."""
    return call


def transform(name: str, small: bool, prepared: Callable[[Call], Call] = plain) -> Task:
    size, weights, arrays = function_arrays(name, small)
    tensors = {key: minigrad.tensor(array) for key, array in weights.items()}
    x, *given = map(minigrad.tensor, arrays)

    def perceptron(w: Any, x: Any) -> Any:
        x = F.relu(F.linear(x, w["0.weight"], w["0.bias"]))
        x = F.relu(F.linear(x, w["2.weight"], w["2.bias"]))
        return F.linear(x, w["4.weight"], w["4.bias"])

    def smooth(x: Any) -> Any:
        w = tensors
        x = F.tanh(F.linear(x, w["0.weight"], w["0.bias"]))
        return F.linear(F.tanh(F.linear(x, w["2.weight"], w["2.bias"])), w["4.weight"])

    def pictures(w: Any, x: Any) -> Any:
        x = F.relu(F.conv2d(x[None], w["0.weight"], w["0.bias"], padding=1))
        x = F.relu(F.conv2d(F.max_pool2d(x, 2), w["3.weight"], w["3.bias"], padding=1))
        return F.linear(F.max_pool2d(x, 2).reshape(-1), w["6.weight"], w["6.bias"])

    layer = nn.TransformerEncoderLayer(size.width, size.heads, size.hidden, 0.0)
    names = list(layer.state_dict())

    def encoder(w: Any, x: Any) -> Any:
        w = unpacked(w)
        return functional_call(layer, {name: w[name] for name in names}, (x[None],))[0]

    def per_sample(model: Call) -> Call:
        def loss(w: Any, x: Any, y: Any) -> Any:
            return F.cross_entropy(model(w, x), y)

        return vmap(grad(loss), (None, 0, 0))

    if name == "encoder":
        function = vmap(grad(lambda w, x, g: (encoder(w, x) * g).sum()), (None, 0, 0))
    elif name in ("perceptron", "pictures"):
        function = per_sample({"perceptron": perceptron, "pictures": pictures}[name])
    elif name == "jacobian":
        call = prepared(vmap(jacobian(smooth)))
        return _task(lambda: {"jacobian": call(x)})
    elif name == "hessian":
        call = prepared(hessian(lambda x: (smooth(x) ** 2).sum()))
        return _task(lambda: {"hessian": call(x)})
    else:
        call = prepared(lambda x, v: jvp(smooth, (x,), (v,)))
        return _task(lambda: dict(zip(("value", "derivative"), call(x, *given), strict=True)))
    call = prepared(function)
    return _task(lambda: call(tensors, x, *given))


def unpacked(weights: dict[str, Any]) -> dict[str, Any]:
    """The weights of a layer by their names here: one for queries, keys and values each."""
    found = {}
    for name, value in weights.items():
        if "in_proj_" in name:
            for letter, part in zip("qkv", minigrad.split(value, 3), strict=True):
                found[name.replace("in_proj_", f"{letter}_proj.")] = part
        else:
            found[name] = value
    return found


def _task(run: Callable[[], dict[str, Any]]) -> Task:
    return Task(run, lambda: {name: value.numpy() for name, value in run().items()})
