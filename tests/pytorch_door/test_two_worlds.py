"""PyTorch's tensors and minigrad's own: the class of a result, and what the door leaves alone."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
import minigrad.torch as torch
from minigrad import nn as own_nn
from minigrad.torch import nn


def test_results_are_of_the_class_of_their_tensors() -> None:
    x, own = torch.ones(2, 3), minigrad.ones(2, 3)
    for made in (
        x + 1, x + own, own + x, minigrad.exp(x), minigrad.maximum(own, x), x[0], x.T, x.detach(),
        minigrad.concatenate([own, x]), np.tanh(x), *minigrad.split(x, 3, 1), x.sum(), x == x,
        minigrad.linalg.svd(x)[1], minigrad.where(x > 0, own, own),
    ):  # fmt: skip
        assert type(made) is torch.Tensor
    for made in (own + 1, minigrad.exp(own), own.sum(), minigrad.ones(2)):
        assert type(made) is minigrad.Tensor
    assert type(torch.exp(own)) is torch.Tensor


def test_minigrads_own_meaning_stays() -> None:
    own = minigrad.tensor([[1.0, 3.0], [4.0, 2.0]])
    assert own.max(1).tolist() == [3.0, 4.0]
    assert torch.as_tensor(own).max(1).indices.tolist() == [1, 0]
    assert type(own) is minigrad.Tensor
    np.testing.assert_allclose(own.std().item(), np.std(own.numpy()), 1e-6)
    np.testing.assert_allclose(torch.as_tensor(own).std().item(), np.std(own.numpy(), ddof=1), 1e-6)


def test_rules_are_run_on_minigrads_own_tensors() -> None:
    """A rule with a method that means something else here would be wrong at the second order."""
    x = torch.tensor(np.linspace(0.5, 2.0, 6).reshape(2, 3), requires_grad=True)
    functions: dict[str, Any] = {
        "max": lambda: (x.max(1)[0] ** 3).sum(),
        "std": lambda: x.std() ** 2,
        "sort": lambda: (torch.sort(x, 1, True).values ** 3 * torch.arange(3.0)).sum(),
        "split": lambda: (x.split(2, 1)[0] ** 3).sum(),
        "softmax": lambda: (x.softmax(1) ** 2).sum(),
        "layer norm": lambda: (torch.nn.functional.layer_norm(x, (3,)) ** 3).sum(),
    }
    for name, function in functions.items():
        (first,) = torch.autograd.grad(function(), x, create_graph=True)
        assert type(first) is torch.Tensor, name
        (second,) = torch.autograd.grad((first * first).sum(), x, allow_unused=True)
        step, base = 1e-6, x.detach().clone()
        values = []
        for sign in (1, -1):
            x.data = base + sign * step
            (g,) = torch.autograd.grad(function(), x)
            values.append((g * g).sum().item())
        x.data = base
        slope = (values[0] - values[1]) / (2 * step)
        np.testing.assert_allclose(second.sum().item(), slope, 1e-4, 1e-6, err_msg=name)


def test_modules_of_minigrads_become_pytorchs_and_stay_themselves() -> None:
    inner = own_nn.Sequential(own_nn.Linear(2, 3), own_nn.BatchNorm1d(3))
    weight = inner[0].weight

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner
            self.layers = nn.ModuleList([nn.Linear(3, 1)])

        def forward(self, x: Any) -> Any:
            return self.layers[0](self.inner(x))

    model = Model()
    assert model.inner is inner
    assert inner[0].weight is weight
    assert all(isinstance(module, nn.Module) for module in model.modules())
    assert all(type(p) is nn.Parameter for p in model.parameters())
    assert type(inner[1].running_mean) is torch.Tensor
    assert isinstance(inner[0], nn.Linear)
    assert isinstance(inner, nn.Sequential)
    out = model(torch.ones(4, 2))
    out.sum().backward()
    assert type(out) is torch.Tensor
    assert type(weight.grad) is torch.Tensor
    assert all(type(value) is torch.Tensor for value in model.state_dict().values())
    assert type(own_nn.Linear(2, 3).weight) is own_nn.Parameter
    assert type(nn.Sequential(own_nn.Linear(2, 3))[0].weight) is nn.Parameter


def test_copies_and_pickles_keep_the_class() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(twin[0]) is nn.Linear
        assert type(twin[0].weight) is nn.Parameter
        assert torch.equal(twin[0].weight, model[0].weight)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for same in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(same) is torch.Tensor
        assert same.requires_grad
        assert torch.equal(same, x)


def test_hooks_and_functions_get_pytorchs_tensors() -> None:
    seen: list[Any] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(x)
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend([g, *ctx.saved_tensors])
            return g * 2

    x = torch.ones(3, requires_grad=True)
    x.register_hook(seen.append)
    y = Double.apply(x)
    y.sum().backward()
    assert type(y) is torch.Tensor
    assert x.grad.tolist() == [2.0] * 3
    assert [type(value) for value in seen] == [torch.Tensor] * len(seen)
    assert len(seen) == 4


def test_batches_are_pytorchs() -> None:
    data = torch.utils.data.TensorDataset(torch.ones(4, 2), torch.arange(4))
    for x, i in torch.utils.data.DataLoader(data, batch_size=2):
        assert type(x) is torch.Tensor
        assert type(i) is torch.Tensor
        assert x.size() == (2, 2)
        assert i.max(0).indices.item() == 1


def test_what_stays_out_says_so() -> None:
    """More is in test_scripts.py."""
    with pytest.raises(NotImplementedError, match="antialias"):
        nn.functional.interpolate(torch.ones(1, 1, 4, 4), 2, antialias=True)
