"""Optimizers: steps by hand, groups, state, and what they refuse."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from optimizer_kinds import KINDS, arrays_of, assert_same, closure_of, kinds, leaf, take_steps

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.optim.lbfgs import Point, _in_order

dtypes = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])


class TestSteps:
    @pytest.mark.parametrize("make", [*KINDS.values(), optim.LBFGS], ids=[*KINDS, "LBFGS"])
    def test_a_detached_leaf_is_trained_as_any_other(self, make: Any) -> None:
        """It shares the memory of its source, which the steps write to."""
        source = Tensor([3.0, -2.0])
        x, y = source.detach().requires_grad_(), leaf([3.0, -2.0], np.float32)
        for tensor in (x, y):
            take_steps(make([tensor]), 3, lambda tensor=tensor: ((tensor - 1) ** 2).sum())
        assert x.tolist() == y.tolist() == source.tolist() != [3.0, -2.0]

    @kinds
    def test_in_place_and_seen_by_the_graph(self, make: Any) -> None:
        """The gradient is not changed."""
        x = leaf([1.0, 2.0])
        data, optimizer = x._data, make([x])
        loss = (x * x).sum()
        for _ in range(3):
            x.grad = Tensor([0.5, -0.5])
            optimizer.step()
            assert x.grad.tolist() == [0.5, -0.5]
        assert x._data is data
        with pytest.raises(RuntimeError, match="written in place"):
            loss.backward()

    @kinds
    @dtypes
    def test_dtypes_stay(self, make: Any, dtype: Any) -> None:
        x = leaf([1.0, 2.0], dtype)
        optimizer = make([x])
        optimizer.param_groups[0]["lr"] = np.float64(0.01)  # as a scheduler may leave it
        take_steps(optimizer, 2, lambda: (x * x).sum())
        assert x.dtype == dtype
        assert all(array.dtype == dtype for array in arrays_of(optimizer))

    def test_closure(self) -> None:
        x = leaf([1.0])
        optimizer = optim.SGD([x], lr=0.25)
        with minigrad.no_grad():
            assert optimizer.step(closure_of(optimizer, lambda: (x * x).sum())).item() == 1.0
        assert x.item() == 0.5
        assert optimizer.step() is None

    @kinds
    def test_after_the_model_was_converted(self, make: Any) -> None:
        model = nn.Linear(2, 1)
        optimizer = make(model.parameters())
        assert optimizer.param_groups[0]["params"] == [model.weight, model.bias]
        for convert in (model.float, model.double):
            convert()
            take_steps(optimizer, 2, lambda: model(minigrad.ones(3, 2)).sum())
        assert all(array.dtype == np.float64 for array in arrays_of(optimizer))

    def test_gradients_as_zeros(self) -> None:
        """In their own memory, unless they have a history; whoever needs the old values is told."""
        model = nn.Linear(2, 1)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        optimizer.zero_grad(set_to_none=False)
        assert [parameter.grad for parameter in model.parameters()] == [None, None]
        for reset in (optimizer.zero_grad, model.zero_grad):
            model(minigrad.ones(3, 2)).sum().backward()
            before = [parameter.grad for parameter in model.parameters()]
            reset(set_to_none=False)
            for parameter, grad in zip(model.parameters(), before, strict=True):
                assert parameter.grad is grad
                assert not grad.numpy().any()
        x = leaf([3.0])
        (x**3).sum().backward(create_graph=True)
        kept = x.grad
        x.zero_grad(set_to_none=False)
        assert x.grad is not kept
        assert (x.grad.tolist(), kept.tolist()) == ([0.0], [27.0])
        x.grad.requires_grad = False
        loss = (leaf([2.0]) * x.grad).sum()
        x.zero_grad(set_to_none=False)
        with pytest.raises(RuntimeError, match="written in place"):
            loss.backward()


def valley(options: dict[str, Any]) -> tuple[Any, Any, list[Tensor]]:
    """Rosenbrock's function of two parameters, beside one that it does not depend on."""
    params = [leaf([-1.0]), leaf([3.0, 4.0]), leaf(2.0)]
    optimizer = optim.LBFGS(params, **options)

    def loss() -> Tensor:
        x, y = params[0][0], params[2]
        return (1 - x) ** 2 + 100 * (y - x**2) ** 2

    return optimizer, closure_of(optimizer, loss), params


SEARCH = {"line_search_fn": "strong_wolfe"}


class TestLBFGS:
    @pytest.mark.parametrize("options", [SEARCH, {"lr": 1e-3, "history_size": 2}])
    def test_going_on_from_a_saved_state(self, options: dict[str, Any]) -> None:
        first, closure, params = valley({"max_iter": 3, **options})
        first.step(closure)
        saved = pickle.loads(pickle.dumps(first.state_dict()))
        second, other_closure, other = valley({"max_iter": 3, **options})
        second.load_state_dict(saved)
        for a, b in zip(other, params, strict=True):
            a.data[...] = b.numpy()
        for _ in range(3):
            assert first.step(closure).item() == second.step(other_closure).item()
        for a, b in zip(other, params, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert_same(second.state_dict(), first.state_dict())
        assert len(first.state_dict()["state"][0]["old_dirs"]) <= options.get("history_size", 99)

    def test_a_loss_that_ends_is_stepped_back_from(self) -> None:
        """Beyond 2 the loss is not a number; PyTorch's search moves there."""
        x = leaf([0.5])
        with np.errstate(invalid="ignore", divide="ignore"):
            take_steps(
                optim.LBFGS([x], lr=40.0, **SEARCH), 3,
                lambda: -(minigrad.log(2 - x) + 0.5 * minigrad.log(x)).sum(),
            )  # fmt: skip
        np.testing.assert_allclose(x.item(), 2 / 3, rtol=1e-6)
        good, wrong = (Point(1.0, loss, np.zeros(1), 0.0) for loss in (1.0, np.nan))
        assert _in_order(good, wrong) == _in_order(wrong, good) == (good, wrong)

    def test_a_gradient_that_is_no_number_moves_nothing(self) -> None:
        x = leaf([2.0, 1.0])
        optimizer = optim.LBFGS([x], **SEARCH)
        for wrong in (np.nan, np.inf, -np.inf):

            def closure(wrong: float = wrong) -> Tensor:
                x.grad = minigrad.tensor([wrong, 1.0])
                return x.sum()

            with np.errstate(invalid="ignore"):
                optimizer.step(closure)
            assert x.tolist() == [2.0, 1.0]

    @pytest.mark.parametrize("options", [{}, SEARCH])
    def test_a_closure_that_fails_leaves_the_parameters(self, options: dict[str, Any]) -> None:
        optimizer, closure, params = valley(options)
        calls = 0

        def failing() -> Tensor:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise KeyboardInterrupt
            return closure()

        with pytest.raises(KeyboardInterrupt):
            optimizer.step(failing)
        if options:  # without a search, the step is taken before
            assert [p.tolist() for p in params] == [[-1.0], [3.0, 4.0], 2.0]

    @dtypes
    @pytest.mark.parametrize("options", [{"lr": 0.5}, SEARCH])
    def test_dtypes_stay(self, dtype: Any, options: dict[str, Any]) -> None:
        x = leaf([[3.0, -2.0]], dtype)
        x.data = np.asfortranarray(x._data)
        optimizer = optim.LBFGS([x, leaf(np.zeros((0, 2)), dtype)], **options)
        take_steps(optimizer, 1, lambda: ((x - 1) ** 2).sum())
        assert x.dtype == dtype
        assert ((x - 1) ** 2).sum().item() < 1e-3

    def test_refusals(self) -> None:
        optimizer, closure, (x, _, _) = valley({})
        for wrong in (None, 3):
            with pytest.raises(TypeError, match=r"LBFGS: step\(closure\) needs a function"):
                optimizer.step(wrong)
        optimizer.param_groups[0]["lr"] = np.nan
        with pytest.raises(ValueError, match="LBFGS: lr must be"):
            optimizer.step(closure)
        assert x.item() == -1.0
        optimizer.param_groups[0]["lr"] = 1.0
        optimizer.step(closure)
        good = optimizer.state_dict()
        kept = good["state"][0]
        for bad in (
            {0: {**kept, "d": np.ones(3)}}, {0: {**kept, "ro": [1.0]}}, {0: {"n_iter": 1}},
            {1: kept}, {0: {**kept, "momentum_buffer": 1.0}},
        ):  # fmt: skip
            with pytest.raises(ValueError, match="LBFGS: "):
                optimizer.load_state_dict({**good, "state": bad})
            assert_same(optimizer.state_dict(), good)
        x.data, x.grad = np.ones(2), None
        with pytest.raises(ValueError, match="LBFGS: the parameters have 5 elements, .* 4"):
            optimizer.step(closure)
        x.grad = Tensor([1.0, 2.0])
        x.data = np.ones((1, 2))  # as many elements
        with pytest.raises(ValueError, match=r"LBFGS: .*grad has shape \(2,\)"):
            optimizer.step(x.sum)


class TestGroups:
    def test_the_same_parameter_twice(self) -> None:
        x = leaf([1.0])
        optimizer = optim.SGD([x])
        with pytest.raises(ValueError, match="parameter 1 of shape"):
            optimizer.add_param_group({"params": [leaf([2.0]), x]})
        for wrong in ([x], None, {"lr": 1.0}):
            with pytest.raises(TypeError, match="SGD: a group is a dict with 'params', got"):
                optimizer.add_param_group(wrong)
        assert len(optimizer.param_groups) == 1


def group_with(saved: Any, **changes: Any) -> Any:
    return {**saved, "param_groups": [{**saved["param_groups"][0], **changes}]}


BAD: dict[str, tuple[Any, str]] = {
    "no dict": (lambda s: [], "has the keys 'state' and 'param_groups'"),
    "no groups": (lambda s: {"state": {}}, "has the keys 'state' and 'param_groups'"),
    "other groups": (lambda s: group_with(s, params=[0]),
                     r"saved groups hold \[1\] parameters, its own \[2\]"),
    "missing option": (lambda s: {**s, "param_groups": [{"params": [0, 1], "lr": 1.0}]},
                       "a saved group lacks amsgrad, betas, eps, weight_decay"),
    "bad option": (lambda s: group_with(s, lr=-1.0), "lr must be a number"),
    "shape": (lambda s: {**s, "state": s["state"] | {1: s["state"][1] | {"exp_avg": np.ones(3)}}},
              r"exp_avg of parameter 1 has shape \(3,\), the parameter \(2,\)"),
    "another optimizer's": (lambda s: {**s, "state": {0: {"momentum_buffer": np.ones(1)}}},
                            r"the state of parameter 0 has \['momentum_buffer'\]"),
    "more than a state": (lambda s: {**s, "state": {0: s["state"][0] | {"sum": np.ones(1)}}},
                          r"has \['exp_avg', 'exp_avg_sq', 'step', 'sum'\]"),
    "half a state": (lambda s: {**s, "state": {0: {"step": 1}}},
                     r"has \['step'\], \['exp_avg', 'exp_avg_sq', 'step'\] expected"),
    "unknown parameter": (lambda s: {**s, "state": {**s["state"], 5: s["state"][0]}},
                          r"saved state of unknown parameters \[5\]"),
}  # fmt: skip


class TestState:
    @pytest.mark.parametrize("kind", [optim.Adam, optim.LBFGS])
    def test_it_is_a_copy(self, kind: Any) -> None:
        x = leaf([1.0, 3.0])
        optimizer = kind([x])
        take_steps(optimizer, 1, lambda: (x**4).sum())
        saved = optimizer.state_dict()
        before = copy.deepcopy(saved)
        for _ in range(2):
            take_steps(optimizer, 1, lambda: (x**4).sum())
            assert_same(saved, before)
            optimizer.load_state_dict(saved)

    def test_groups_are_numbered_through(self) -> None:
        x, y, z = (leaf([float(i)]) for i in range(3))
        optimizer = optim.SGD([{"params": [x, y]}, {"params": z, "lr": 1.0}], momentum=0.9)
        y.grad = z.grad = Tensor([1.0])
        optimizer.step()
        saved = optimizer.state_dict()
        assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [2]]
        assert sorted(saved["state"]) == [1, 2]
        saved["param_groups"][1]["lr"] = 7.0
        optimizer.load_state_dict(saved)
        assert optimizer.param_groups[1]["lr"] == 7.0
        assert optimizer.param_groups[1]["params"] == [z]

    @pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
    def test_what_does_not_fit_changes_nothing(self, spoil: Any, message: str) -> None:
        x, y = leaf([1.0]), leaf([1.0, 2.0])
        optimizer = optim.Adam([x, y], lr=0.1)
        take_steps(optimizer, 2, lambda: (x * x).sum() + (y * y).sum())
        before = optimizer.state_dict()
        with pytest.raises(ValueError, match=f"Adam: .*{message}"):
            optimizer.load_state_dict(spoil(optimizer.state_dict()))
        assert_same(optimizer.state_dict(), before)
