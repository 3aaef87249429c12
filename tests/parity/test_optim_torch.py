"""Optimizers against PyTorch, step for step."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

import minigrad
from minigrad import nn, optim

STEPS = 20
OTHER = {"lr": 0.1, "betas": (0.6, 0.8), "eps": 0.3, "weight_decay": 0.2}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.2, "dampening": 0.25},
        {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.2, "nesterov": True},
    ],
    "ASGD": [{"lr": 0.1, "lambd": 0.3, "alpha": 0.5, "weight_decay": 0.2}],
    "Adam": [OTHER, OTHER | {"amsgrad": True}],
    "AdamW": [OTHER, OTHER | {"amsgrad": True}],
    "Adamax": [OTHER],
    "NAdam": [OTHER | {"momentum_decay": 2.0}, OTHER | {"decoupled_weight_decay": True}],
    "RAdam": [
        OTHER | {"betas": (0.6, 0.9)},
        OTHER | {"betas": (0.6, 0.9), "decoupled_weight_decay": True},
    ],
    "Adagrad": [
        {"lr": 0.1, "lr_decay": 0.5, "initial_accumulator_value": 2.0},
        {"lr": 0.1, "eps": 0.3, "weight_decay": 0.2},
    ],
    "RMSprop": [
        {"lr": 0.1, "alpha": 0.7, "eps": 0.3, "weight_decay": 0.2},
        {"alpha": 0.7, "eps": 0.01, "momentum": 0.5, "centered": True},
    ],
    "Adadelta": [{"lr": 0.5, "rho": 0.6, "eps": 0.3, "weight_decay": 0.2}],
    "Rprop": [{"lr": 0.1, "etas": (0.25, 1.5)}, {"lr": 0.1, "step_sizes": (0.09, 0.11)}],
}
KINDS = [(name, options, 1e-12) for name, several in OPTIONS.items() for options in [{}, *several]]
KINDS += [(name, several[-1], 1e-5) for name, several in OPTIONS.items()]


@pytest.fixture(autouse=True)
def their_numbers_in_double() -> Iterator[None]:
    """PyTorch keeps some factors in its default dtype; in float64 they are as exact as ours."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def leaves(dtype: Any, *shapes: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """The same parameters, ours and PyTorch's."""
    arrays = [draw(*shape).astype(dtype) for shape in shapes]
    mine = [minigrad.tensor(array, requires_grad=True) for array in arrays]
    return mine, [torch.tensor(array, requires_grad=True) for array in arrays]


def give_gradients(mine: list[Any], other: list[Any], step: int) -> None:
    """Both the same; the second parameter has none now and then."""
    for i, (a, b) in enumerate(zip(mine, other, strict=True)):
        gradient = (draw(*a.shape, seed=100 * step + i) + 0.1 * a.numpy()).astype(a.dtype)
        skipped = i == 1 and step % 3 == 0
        a.grad = None if skipped else minigrad.tensor(gradient)
        b.grad = None if skipped else torch.tensor(gradient)


@pytest.mark.parametrize(("name", "options", "rtol"), KINDS, ids=str)
def test_twenty_steps(name: str, options: dict[str, Any], rtol: float) -> None:
    """Two groups; a parameter that has no gradient now and then; a learning rate that changes."""
    dtype = np.float64 if rtol < 1e-10 else np.float32
    mine, other = leaves(dtype, (3, 4), (5,), (2, 2))

    def groups(params: list[Any]) -> list[dict[str, Any]]:
        return [{"params": params[:2]}, {"params": params[2:], "lr": 0.3}]

    ours = getattr(optim, name)(groups(mine), **{"lr": 0.05, **options})
    theirs = getattr(torch.optim, name)(groups(other), **{"lr": 0.05, **options})
    for step in range(STEPS):
        give_gradients(mine, other, step)
        if step == STEPS // 2:
            ours.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.01
        ours.step()
        theirs.step()
        for a, b in zip(mine, other, strict=True):
            assert_close(a.numpy(), b, f"step {step}", rtol)
            for entry, array in ours.state[a].items():
                if isinstance(array, np.ndarray):
                    assert_close(array, theirs.state[b][entry], f"{entry} of step {step}", rtol)


def test_every_optimizer_is_compared() -> None:
    here = {*optim.__all__} - {"Optimizer", "lr_scheduler", "swa_utils"}
    assert here == {*OPTIONS, "LBFGS", "Muon", "SparseAdam"}


def test_sparse_adam() -> None:
    options = {name: value for name, value in OTHER.items() if name != "weight_decay"}
    tables, optimizers = [], []
    for world in (minigrad, torch):
        table = world.nn.Embedding(5, 3, sparse=True).double()
        table.weight.data[:] = world.tensor(draw(5, 3))
        tables.append(table)
        optimizers.append(world.optim.SparseAdam(table.parameters(), **options))
    for ids in ([1, 4], [1, 1, 0], [3, 1]):
        for world, table, optimizer in zip((minigrad, torch), tables, optimizers, strict=True):
            optimizer.zero_grad()
            (table(world.tensor(ids)) ** 3).sum().backward()
            optimizer.step()
        assert_close(tables[0].weight, tables[1].weight)


MUON = [
    {}, {"nesterov": False, "momentum": 0.8}, {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
    {"weight_decay": 0.0, "ns_coefficients": (2.0, -1.5, 0.5), "adjust_lr_fn": "original"},
]  # fmt: skip


@pytest.mark.parametrize("options", MUON, ids=str)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_muon(options: Any, dtype: Any, rtol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step for step, if theirs does not round the iteration to bfloat16."""
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda x: x.clone())
    mine, other = leaves(dtype, (3, 4), (5, 2), (4, 4))
    ours = optim.Muon(mine, lr=0.05, **options)
    theirs = torch.optim.Muon(other, lr=0.05, **options)
    for step in range(STEPS):
        give_gradients(mine, other, step)
        ours.step()
        theirs.step()
        for a, b in zip(mine, other, strict=True):
            assert_close(a, b, rtol=rtol)


LBFGS: list[dict[str, Any]] = [
    {},
    {"lr": 0.5, "max_iter": 5, "history_size": 3},
    {"max_iter": 1},
    {"tolerance_change": 1e-3, "tolerance_grad": 1e-3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 30.0, "max_iter": 4},
    {"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2, "max_eval": 5},
    {"line_search_fn": "strong_wolfe", "max_iter": 1},
]


def regression(dtype: Any, **options: Any) -> list[tuple[Any, Any, list[Any]]]:
    """Ours and PyTorch's: an optimizer, a closure that computes the loss, and the parameters."""
    inputs, first, last = (a.astype(dtype) for a in (draw(30, 6), draw(6, 5) / 2, draw(5) / 2))
    targets = np.sin(inputs @ draw(6)).astype(dtype)
    made = []
    for tensor, of in ((minigrad.tensor, optim), (torch.tensor, torch.optim)):
        x, y = tensor(inputs), tensor(targets)
        params = [tensor(first, requires_grad=True), tensor(last, requires_grad=True)]
        idle = tensor(targets, requires_grad=True)
        optimizer = of.LBFGS([params[0], idle, params[1]], **options)

        def closure(x: Any = x, y: Any = y, p: Any = params, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (((x @ p[0]).tanh() @ p[1] - y) ** 2).mean()
            loss.backward()
            return loss

        made.append((optimizer, closure, params))
    return made


@pytest.mark.parametrize("options", LBFGS, ids=str)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-8), (np.float32, 5e-3)])
def test_lbfgs(options: dict[str, Any], dtype: Any, rtol: float) -> None:
    """The loss of each call, the parameters, and how often the closure was called."""
    (ours, my_loss, mine), (theirs, their_loss, other) = regression(dtype, **options)
    for _ in range(4):
        loss = ours.step(my_loss)
        np.testing.assert_allclose(loss.item(), theirs.step(their_loss).item(), rtol=rtol)
    for a, b in zip(mine, other, strict=True):
        assert_close(a.numpy(), b, rtol=20 * rtol)
    if dtype == np.float64:
        counts = [next(iter(optimizer.state.values())) for optimizer in (ours, theirs)]
        for name in ("func_evals", "n_iter"):
            assert counts[0][name] == counts[1][name]


AVERAGES: dict[str, Any] = {
    "equal shares": lambda utils: {},
    "moving": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.8)},
    "with buffers": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.8), "use_buffers": True},
    "own": lambda utils: {"avg_fn": lambda mine, theirs, n: mine + (theirs - mine) / n},
    "equal shares, a function": lambda utils: {"avg_fn": utils.get_swa_avg_fn()},
    "equal shares, all at once": lambda utils: {"multi_avg_fn": utils.get_swa_multi_avg_fn()},
    "moving, all at once": lambda utils: {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.8)},
}


@pytest.mark.parametrize("make", AVERAGES.values(), ids=AVERAGES)
def test_an_average_of_weights(make: Any) -> None:
    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).double()
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).double()
    model.load_state_dict({name: t.numpy() for name, t in other.state_dict().items()})
    averages = [
        optim.swa_utils.AveragedModel(model, **make(optim.swa_utils)),
        torch.optim.swa_utils.AveragedModel(other, **make(torch.optim.swa_utils)),
    ]
    sgd = [optim.SGD(model.parameters(), lr=0.1), torch.optim.SGD(other.parameters(), lr=0.1)]
    for step in range(4):
        array = draw(8, 3, seed=step)
        made = (minigrad.tensor, torch.tensor)
        for net, optimizer, tensor in zip((model, other), sgd, made, strict=True):
            optimizer.zero_grad()
            (net(tensor(array)) ** 3).mean().backward()
            optimizer.step()
        averages[0].update_parameters(model)
        averages[1].update_parameters(other)
        states = [average.state_dict() for average in averages]
        assert states[0].keys() == states[1].keys()
        for name, value in states[1].items():
            assert_close(states[0][name], value.numpy(), name)
