"""Optimizers and schedules beside PyTorch's: constructors, groups, steps, states, and one's own."""

import inspect
import io
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad  # noqa: E402
import minigrad.torch as door  # noqa: E402
from minigrad.optim import lr_scheduler, swa_utils  # noqa: E402

KINDS = [name for name in minigrad.optim.__all__ if name[0].isupper()]
SCHEDULES = [name for name in lr_scheduler.__all__ if hasattr(torch.optim.lr_scheduler, name)]

CALLS = """
SGD(p, 0.1, 0.9, dampening=0.2, weight_decay=0.01)
SGD(p, 0.1, 0.9, weight_decay=0.01, nesterov=True)
SGD(p, lr=0.1, maximize=True, foreach=True)
Adam(p, 0.01, amsgrad=True, maximize=True, capturable=False, fused=None)
Adam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True)
AdamW(p, 0.01, (0.8, 0.9), 1e-7, 0.1, True)
AdamW(p, maximize=True)
Adamax(p, 0.01, (0.8, 0.9), 1e-7, 0.1, False, maximize=True)
NAdam(p, 0.01, (0.8, 0.9), 1e-7, 0.1, 0.01, True)
NAdam(p, maximize=True)
RAdam(p, 0.01, (0.8, 0.9), 1e-7, 0.1, True, maximize=True)
RMSprop(p, 0.01, 0.9, 1e-7, 0.1, 0.5, True, False, False, True)
Adagrad(p, 0.01, 0.1, 0.1, 0.1, 1e-9, None, maximize=True)
Adadelta(p, 1.0, 0.8, 1e-5, 0.1, None, maximize=True)
Rprop(p, 0.01, (0.4, 1.3), (1e-5, 10), maximize=True)
ASGD(p, 0.01, 1e-3, 0.5, 1.0, 0.1, None, True)
"""


def parameters(kind: Any) -> list[tuple[str, Any, Any]]:
    """The names, kinds and defaults of a constructor's arguments."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(kind).parameters.values()]


ARGUMENTS = [
    *(("optim", name) for name in KINDS if name not in ("Optimizer", "SGD")),
    *(("optim.lr_scheduler", name) for name in SCHEDULES),
    *(("optim.swa_utils", name) for name in swa_utils.__all__),
]


@pytest.mark.parametrize(("module", "name"), ARGUMENTS)
def test_constructors_have_pytorchs_arguments(module: str, name: str) -> None:
    kind = attrgetter(f"{module}.{name}")
    assert parameters(kind(minigrad)) == parameters(kind(torch))


def test_what_follows_the_momentum_of_sgd_needs_a_name() -> None:
    """The fourth argument is weight_decay in Lucid 2 and dampening in PyTorch."""
    ours, theirs = (parameters(world.optim.SGD) for world in (minigrad, torch))
    assert {(name, default) for name, _, default in ours if name != "unnamed"} == {
        (name, default) for name, _, default in theirs
    }
    assert ours[:3] == theirs[:3]
    with pytest.raises(TypeError, match=r"SGD: .* \(0\.01,\): write weight_decay=.* dampening="):
        minigrad.optim.SGD([minigrad.ones(1, requires_grad=True)], 0.1, 0.9, 0.01)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in KINDS if name != "Optimizer"])
def test_a_group_has_pytorchs_keys(name: str) -> None:
    groups = []
    for world in (minigrad, torch):
        group = getattr(world.optim, name)([world.ones(2, 2, requires_grad=True)]).param_groups[0]
        groups.append({key: value for key, value in group.items() if key != "params"})
    assert groups[0] == groups[1]


def test_a_group_keeps_options_of_ones_own_and_names() -> None:
    for world in (minigrad, torch):
        x = world.ones(1, requires_grad=True)
        y = world.zeros(1, requires_grad=True)
        optimizer = world.optim.SGD([{"params": [("x", x)], "tag": "head"}], lr=0.1)
        optimizer.add_param_group({"params": [("y", y)], "lr": 1.0})
        first, second = optimizer.param_groups
        assert (first["tag"], first["param_names"], second["param_names"]) == ("head", ["x"], ["y"])
        assert first["params"] == [x]
        saved = optimizer.state_dict()
        assert saved["param_groups"][1]["param_names"] == ["y"]
        with pytest.raises(ValueError, match="names"):
            world.optim.SGD([("x", x), y])


def test_a_state_dict_has_state_of_ones_own_and_a_number_for_each_parameter() -> None:
    for world in (minigrad, torch):
        x, y = (world.ones(n, requires_grad=True) for n in (1, 2))
        (x.sum() + y.sum()).backward()
        optimizer, other = (world.optim.Adam([x, y], lr=0.1) for _ in range(2))
        optimizer.register_state_dict_pre_hook(lambda self: self.state.update(epoch=3))
        optimizer.step()
        optimizer.param_groups.extend(optimizer.param_groups)
        saved = optimizer.state_dict()
        assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [0, 1]]
        assert [*saved["state"]] == [0, 1, "epoch"]
        del saved["param_groups"][1]
        other.load_state_dict(saved)
        assert [*other.state] == [x, y, "epoch"]
        assert other.state["epoch"] == 3


def trained(world: Any, line: str) -> tuple[Any, Any, Any, Any]:
    """An optimizer, its schedule, its parameters, and what makes a step of both."""
    numbers = np.random.default_rng(0)
    arrays = [numbers.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,))]
    p: Any = [world.tensor(array, requires_grad=True) for array in arrays]
    x = world.tensor(numbers.standard_normal((8, 4)).astype(np.float32))
    optimizer = eval(line, {**vars(world.optim), "p": p})
    schedule = world.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def steps(count: int = 3) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            ((x @ p[0] + p[1]) ** 2).mean().backward()
            optimizer.step()
            schedule.step()

    steps()
    return optimizer, schedule, p, steps


def same(ours: Any, theirs: Any) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), 2e-5, 2e-6)


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_an_optimizer_steps_as_pytorchs(line: str) -> None:
    """And goes on from PyTorch's state, as PyTorch's does from its."""
    optimizer, schedule, ours, steps = trained(minigrad, line)
    other, their_schedule, theirs, their_steps = trained(torch, line)
    same(ours, theirs)
    assert schedule.get_last_lr() == pytest.approx(their_schedule.get_last_lr())
    file = io.BytesIO()
    door.save(optimizer.state_dict(), file)
    file.seek(0)
    optimizer.load_state_dict(other.state_dict())
    other.load_state_dict(torch.load(file, weights_only=True))
    steps()
    their_steps()
    same(ours, theirs)


def test_states_of_older_files_are_loaded() -> None:
    """They have arrays, whole numbers of steps, and none of the options that came later."""
    x = minigrad.ones(2, requires_grad=True)
    optimizer = minigrad.optim.AdamW([x], maximize=True)
    means = {"exp_avg": np.ones(2, np.float32), "exp_avg_sq": np.ones(2, np.float32)}
    group = {"lr": 0.5, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.0, "amsgrad": False}
    optimizer.load_state_dict(
        {"state": {0: {"step": 7, **means}}, "param_groups": [{**group, "params": [0]}]}
    )
    assert optimizer.state[x]["step"] == 7
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert optimizer.param_groups[0]["maximize"]


def test_adamw_stays_decoupled() -> None:
    for world in (minigrad, torch):
        x = world.ones(1, requires_grad=True)
        optimizer = world.optim.AdamW([x])
        optimizer.load_state_dict(world.optim.Adam([x]).state_dict())
        assert optimizer.param_groups[0]["decoupled_weight_decay"]


def test_maximize_moves_rows_too() -> None:
    moved = []
    for maximize in (False, True):
        words = minigrad.nn.Embedding(4, 2, sparse=True)
        before = words.weight.numpy().copy()
        optimizer = minigrad.optim.SparseAdam(words.parameters(), lr=0.5, maximize=maximize)
        words(minigrad.tensor([1, 3])).sum().backward()
        optimizer.step()
        moved.append(words.weight.numpy() - before)
    np.testing.assert_allclose(moved[0], -moved[1], atol=1e-6)
    assert (moved[1][[1, 3]] > 0.4).all()


def test_an_optimizer_prints_as_pytorchs() -> None:
    texts = []
    for world in (minigrad, torch):
        x, y = (world.ones(1, requires_grad=True) for _ in range(2))
        options = {"momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0}
        optimizer = world.optim.SGD([{"params": [x]}, {"params": [y], "lr": 0.5}], 0.1, **options)
        texts.append(repr(optimizer))
    assert texts[0] == texts[1]


def own(world: Any) -> Any:
    class Momentum(world.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, params: Any, lr: float = 0.1, beta: float = 0.9) -> None:
            super().__init__(params, {"lr": lr, "betas": (beta, 0.99, 0.999)})

        @world.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["mean"] = world.zeros_like(p.data)
                    beta = group["betas"][0]
                    state["mean"].mul_(beta).add_(p.grad.data, alpha=1 - beta)
                    p.data.add_(state["mean"], alpha=-group["lr"])

    return Momentum


def test_an_optimizer_of_ones_own_runs() -> None:
    results = []
    for world in (minigrad, torch):
        w = world.nn.Parameter(world.ones(3))
        optimizer = own(world)([w], lr=0.3)
        for step in range(4):
            if step == 2:
                saved = optimizer.state_dict()
                optimizer = own(world)([w])
                optimizer.load_state_dict(saved)
                assert optimizer.param_groups[0]["lr"] == 0.3
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()
        assert len(optimizer.state[w]) == 1
        results.append(w.detach().numpy())
    np.testing.assert_allclose(*results, 1e-6)


GOING: dict[str, tuple[Any, ...]] = {
    "StepLR": (3, 0.5), "ExponentialLR": (0.9,), "CosineAnnealingLR": (10,),
    "CyclicLR": (0.1, 0.5, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", GOING)
def test_a_schedule_goes_to_an_epoch(name: str) -> None:
    found = []
    for world in (minigrad, torch):
        optimizer = world.optim.SGD([world.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
        schedule = getattr(world.optim.lr_scheduler, name)(optimizer, *GOING[name])
        optimizer.step()
        with pytest.warns(UserWarning, match="epoch"):
            schedule.step(7)
        with pytest.warns(UserWarning, match="epoch"):
            schedule.step(4)
        found.append(
            [*schedule.get_last_lr(), *schedule._last_lr, optimizer.param_groups[0]["momentum"]]
        )
    assert found[0] == pytest.approx(found[1])


def test_differentiable_steps_are_refused() -> None:
    x = minigrad.ones(1, requires_grad=True)
    for name in KINDS:
        kind = getattr(minigrad.optim, name)
        if "differentiable" in inspect.signature(kind).parameters:
            with pytest.raises(NotImplementedError, match=f"{name}: differentiable=True"):
                kind([x], differentiable=True)
