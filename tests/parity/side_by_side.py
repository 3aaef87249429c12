"""Running a layer of ours and PyTorch's on the same weights and inputs, and comparing them."""

import copy
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from layer_table import Layer

import minigrad
from minigrad import nn

torch = pytest.importorskip("torch")

THEIR_NAMES = {
    "MultiHeadAttention": "MultiheadAttention",
}


def their_class(line: Layer) -> Any:
    """PyTorch's class of such layers, or None."""
    return getattr(torch.nn, THEIR_NAMES.get(line.kind, line.kind), None)


def theirs_of(value: Any) -> Any:
    """PyTorch's layer of a line, the batch first as in ours; a list as a tensor, else the value."""
    if isinstance(value, Layer):
        options = {name: theirs_of(option) for name, option in value.options.items()}
        if "batch_first" in signature(their_class(value)).parameters:  # attention, not recurrence
            options["batch_first"] = True
        return their_class(value)(*map(theirs_of, value.sizes), **options)
    return torch.tensor(value) if isinstance(value, list) else value


def run_theirs(line: Layer, module: Any, *inputs: Any) -> Any:
    """The result of PyTorch's layer, called as the line says."""
    given = [torch.tensor(value) for value in line.given.values()]
    return (line.call or type(module).__call__)(module, *inputs, *given)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers in float64 that depend on shape and seed only."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def randomise(module: Any, seed: int = 0) -> Any:
    """Give a PyTorch module weights none of which are 0 or 1, in float64."""
    generator = torch.Generator().manual_seed(seed)
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise * 0.5)
    return module


def assert_close(ours: Any, theirs: Any, name: str = "", rtol: float = 1e-9) -> None:
    """Equality up to rounding, relative to the largest element."""
    a = ours.detach().numpy() if hasattr(ours, "detach") else np.asarray(ours)
    b = theirs.detach().numpy() if hasattr(theirs, "detach") else np.asarray(theirs)
    assert a.shape == b.shape, name
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=name)


def both(
    ours: Any, theirs: Any, *arrays: Any, given: Any = (), gradient: Any = None, rtol: float = 1e-9
) -> None:
    """Compare the values of two functions of arrays, and the gradients of these arrays.

    Args:
        ours: Takes our tensors.
        theirs: Takes PyTorch's.
        *arrays: What gradients are compared of, where PyTorch has one.
        given: Further arrays.
        gradient: What is compared of PyTorch's gradient; all of it by default.
        rtol: The relative error allowed.
    """
    mine = [minigrad.tensor(array, requires_grad=True) for array in arrays]
    other = [torch.tensor(array, requires_grad=True) for array in arrays]
    out, expected = ours(*mine, *given), theirs(*other, *map(torch.tensor, given))
    assert_close(out, expected, rtol=rtol)
    cotangent = draw(*out.shape, seed=9)
    (out * cotangent).sum().backward()
    (expected * torch.tensor(cotangent)).sum().backward()
    for x, y in zip(mine, other, strict=True):
        if y.grad is not None:
            wanted = y.grad if gradient is None else gradient(y.grad)
            assert_close(np.zeros(x.shape) if x.grad is None else x.grad, wanted, rtol=rtol)


def compare(
    ours: nn.Module,
    theirs: Any,
    inputs: list[np.ndarray],
    run_ours: Callable[..., Any],
    run_theirs: Callable[..., Any],
    rtol: float = 1e-9,
) -> None:
    """Load PyTorch's weights, run both, and compare outputs and all gradients.

    Args:
        ours: Our module, of the dtype of the inputs.
        theirs: PyTorch's.
        inputs: Arrays; gradients of all of them are compared.
        run_ours: Takes our inputs, returns a tensor, or several whose gradients flow together.
        run_theirs: The same for PyTorch's.
        rtol: The relative error allowed.
    """
    ours.load_state_dict(theirs.state_dict())
    mine = [minigrad.tensor(array, requires_grad=True) for array in inputs]
    other = [torch.tensor(array, requires_grad=True) for array in inputs]
    outputs = run_ours(*mine)
    expected = run_theirs(*other)
    pairs = zip(_several(outputs), _several(expected), strict=True)
    loss: Any = 0.0
    reference: Any = 0.0
    for i, (output, wanted) in enumerate(pairs):
        assert_close(output, wanted, f"output {i}", rtol)
        cotangent = draw(*output.shape, seed=i + 1).astype(output.dtype)
        loss = loss + (output * cotangent).sum()
        reference = reference + (wanted * torch.tensor(cotangent)).sum()
    loss.backward()
    reference.backward()
    for i, (tensor, wanted) in enumerate(zip(mine, other, strict=True)):
        assert_close(tensor.grad, wanted.grad, f"gradient of input {i}", rtol)
    twin = copy.deepcopy(ours)  # reading a state dict translates PyTorch's names
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    twin.load_state_dict(theirs.state_dict() | gradients)
    wanted = dict(twin.named_parameters())
    for name, parameter in ours.named_parameters():
        assert_close(parameter.grad, wanted[name], f"gradient of {name}", rtol)


def _several(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)
