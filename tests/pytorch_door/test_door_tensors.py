"""Tensors of `minigrad.torch`: second derivatives, copies, hooks and batches."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad.torch as torch
from minigrad.torch import nn


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
