"""The functions that are transformed, once for all libraries that have the names of PyTorch."""

from collections.abc import Callable
from typing import Any, NamedTuple

from _work import Task, function_arrays

Call = Callable[..., Any]


class Library(NamedTuple):
    """The parts of the functions.

    Attributes:
        F: The module with `linear`, `conv2d` and the like.
        tensor: Makes a tensor of an array.
        encoder: For a size, an encoder layer as a function of its weights and a batch.
        vmap: Maps a function of one sample.
        grad: The gradient of a function.
        jacobian: The Jacobian of a function.
        hessian: The second derivatives of a function.
        jvp: The value and the derivative along a direction.
    """

    F: Any
    tensor: Call
    encoder: Call
    vmap: Call
    grad: Call
    jacobian: Call
    hessian: Call
    jvp: Call


def task(library: Library, name: str, small: bool, prepared: Callable[[Call], Call]) -> Task:
    """One of `_work.FUNCTIONS`; `prepared` may capture the call."""
    F = library.F
    size, weights, arrays = function_arrays(name, small)
    tensors = {key: library.tensor(array) for key, array in weights.items()}
    given = [library.tensor(array) for array in arrays]
    layer = library.encoder(size)

    def perceptron(w: Any, x: Any) -> Any:
        x = F.relu(F.linear(x, w["0.weight"], w["0.bias"]))
        x = F.relu(F.linear(x, w["2.weight"], w["2.bias"]))
        return F.linear(x, w["4.weight"], w["4.bias"])

    def pictures(w: Any, x: Any) -> Any:
        x = F.relu(F.conv2d(x[None], w["0.weight"], w["0.bias"], padding=1))
        x = F.relu(F.conv2d(F.max_pool2d(x, 2), w["3.weight"], w["3.bias"], padding=1))
        return F.linear(F.max_pool2d(x, 2).reshape(-1), w["6.weight"], w["6.bias"])

    def smooth(x: Any) -> Any:
        w = tensors
        x = F.tanh(F.linear(x, w["0.weight"], w["0.bias"]))
        return F.linear(F.tanh(F.linear(x, w["2.weight"], w["2.bias"])), w["4.weight"])

    def per_sample(loss: Call) -> Call:
        mapped = library.vmap(library.grad(loss), (None, 0, 0))
        return lambda *given: mapped(tensors, *given)

    call = prepared({
        "perceptron": per_sample(lambda w, x, y: F.cross_entropy(perceptron(w, x), y)),
        "pictures": per_sample(lambda w, x, y: F.cross_entropy(pictures(w, x), y)),
        "encoder": per_sample(lambda w, x, g: (layer(w, x[None])[0] * g).sum()),
        "jacobian": library.vmap(library.jacobian(smooth)),
        "hessian": library.hessian(lambda x: (smooth(x) ** 2).sum()),
        "jvp": lambda x, v: library.jvp(smooth, (x,), (v,)),
    }[name])  # fmt: skip

    def answer() -> dict[str, Any]:
        found = call(*given)
        if name == "jvp":
            found = dict(zip(("value", "derivative"), found, strict=True))
        named = found if isinstance(found, dict) else {name: found}
        return {key: value.detach().numpy() for key, value in named.items()}

    return Task(lambda: call(*given), answer)
