"""PyTorch: `torch.func`, eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from _work import Task, function_arrays
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap

Call = Callable[..., Any]


def transform(name: str, small: bool) -> Task:
    size, weights, arrays = function_arrays(name, small)
    tensors = {key: torch.tensor(array) for key, array in weights.items()}
    x, *given = map(torch.tensor, arrays)

    def perceptron(w: Any, x: Any) -> Any:
        x = F.relu(F.linear(x, w["0.weight"], w["0.bias"]))
        x = F.relu(F.linear(x, w["2.weight"], w["2.bias"]))
        return F.linear(x, w["4.weight"], w["4.bias"])

    def smooth(x: Any) -> Any:
        w = tensors
        x = torch.tanh(F.linear(x, w["0.weight"], w["0.bias"]))
        return F.linear(torch.tanh(F.linear(x, w["2.weight"], w["2.bias"])), w["4.weight"])

    def pictures(w: Any, x: Any) -> Any:
        x = F.relu(F.conv2d(x[None], w["0.weight"], w["0.bias"], padding=1))
        x = F.relu(F.conv2d(F.max_pool2d(x, 2), w["3.weight"], w["3.bias"], padding=1))
        return F.linear(F.max_pool2d(x, 2).reshape(-1), w["6.weight"], w["6.bias"])

    layer = nn.TransformerEncoderLayer(size.width, size.heads, size.hidden, 0.0, batch_first=True)

    def encoder(w: Any, x: Any) -> Any:
        return functional_call(layer, w, (x[None],))[0]

    def per_sample(model: Call) -> Call:
        def loss(w: Any, x: Any, y: Any) -> Any:
            return F.cross_entropy(model(w, x), y)

        return vmap(grad(loss), (None, 0, 0))

    if name == "encoder":
        function = vmap(grad(lambda w, x, g: (encoder(w, x) * g).sum()), (None, 0, 0))
    elif name in ("perceptron", "pictures"):
        function = per_sample({"perceptron": perceptron, "pictures": pictures}[name])
    elif name == "jacobian":
        return _task(lambda: {"jacobian": vmap(jacrev(smooth))(x)})
    elif name == "hessian":
        return _task(lambda: {"hessian": hessian(lambda x: (smooth(x) ** 2).sum())(x)})
    else:
        names = ("value", "derivative")
        return _task(lambda: dict(zip(names, jvp(smooth, (x,), tuple(given)), strict=True)))
    return _task(lambda: function(tensors, x, *given))


def _task(run: Callable[[], dict[str, Any]]) -> Task:
    return Task(run, lambda: {name: value.detach().numpy() for name, value in run().items()})
