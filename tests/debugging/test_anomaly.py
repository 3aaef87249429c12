"""`detect_anomaly`: where a NaN or an infinity came from; and the observers that it is one of."""

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, no_grad, tensor
from minigrad.autograd import Observer, primitive


@primitive
def lossy(x: Any) -> Any:
    return x * 1.0


lossy.defvjp(x=lambda g, x: g / (x - x))  # finite forwards, infinite backwards


class Logs(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return minigrad.log(x)


@pytest.mark.parametrize(
    ("given", "told"),
    [([-np.inf, 1.0], "from 1 to 1 with 1 -inf"), ([np.inf, np.inf], "with 2 inf"),
     ([np.inf, -np.inf], "with 1 inf, 1 -inf"), ([np.inf, np.nan], "with 1 NaN, 1 inf"),
     ([np.nan, 2.0], "from 2 to 2 with 1 NaN")],
)  # fmt: skip
def test_a_range_counts_what_it_leaves_out(given: list[float], told: str) -> None:
    """The infinities of an input are what explains a NaN."""
    with minigrad.detect_anomaly(), pytest.raises(FloatingPointError) as caught:
        minigrad.tensor(given) - minigrad.tensor(given)
    for name in ("a", "b"):
        assert f"{name} float32 (2,) {told}" in str(caught.value)


def test_the_forward_error_names_op_module_line_shapes_and_ranges() -> None:
    model = nn.Sequential(nn.Linear(2, 2), Logs())
    with no_grad():
        model[0].weight.mul_(0.0)
        model[0].bias[...] = np.array([-1.0, 2.0])
    with warnings.catch_warnings(), minigrad.detect_anomaly():
        warnings.simplefilter("error")  # the error takes the place of NumPy's warning
        with pytest.raises(FloatingPointError) as caught:
            model(minigrad.ones(3, 2)).sum()
    message = str(caught.value)
    assert message.startswith(
        "log: its output float32 (3, 2) has 3 NaN, first at (0, 0), and none of its inputs has: "
        "x float32 (3, 2) from -1 to 2; at "
    )
    assert f"{Path(__file__).name}:" in message
    assert "return minigrad.log(x)" in message
    assert message.endswith("[in 1]")


def test_infinities_in_a_mask_are_no_anomaly() -> None:
    scores = minigrad.zeros(2, 3, requires_grad=True)
    mask = np.array([[0.0, -np.inf, 0.0]] * 2, dtype=np.float32)
    with minigrad.detect_anomaly():
        for masked in (scores + mask, scores.masked_fill(mask < 0, -np.inf)):
            minigrad.softmax(masked, axis=-1).square().sum().backward()
    assert np.isfinite(scores.grad.numpy()).all()


def of(*values: float) -> Tensor:
    return tensor(values, requires_grad=True)


BAD: dict[str, tuple[str, Callable[[], Any]]] = {
    "an infinity out of finite numbers": (
        r"exp: .*1 inf.*\(1,\).*inputs", lambda: minigrad.exp(of(1.0, 200.0))),
    "a NaN from outside": ("multiply: .*came in with a: ", lambda: of(1.0, np.nan) * 2.0),
    "the backward pass of a graph from outside": (
        "lossy: the gradient", lossy(of(3.0, 4.0)).sum().backward),
    "a NaN given to backward": (
        "came in with the gradient of its output",
        lambda: (of(3.0, 4.0) * 2.0).backward(np.array([1.0, np.nan], dtype=np.float32))),
}  # fmt: skip


@pytest.mark.parametrize(("told", "run"), BAD.values(), ids=BAD)
def test_where_it_came_from_is_told(told: str, run: Callable[[], Any]) -> None:
    with minigrad.detect_anomaly(), pytest.raises(FloatingPointError, match=told):
        run()


def test_a_nan_that_is_masked_out_does_no_harm() -> None:
    x = of(1.0, np.nan)
    with minigrad.detect_anomaly():
        assert minigrad.where(~minigrad.isnan(x), x, 0.0).sum().item() == 1.0


def test_the_backward_error_names_the_line_of_the_forward() -> None:
    x = Tensor([3.0, 4.0], requires_grad=True)
    with minigrad.detect_anomaly():
        y = lossy(x)  # the line that is named
        loss = (y * y).sum()
        with pytest.raises(FloatingPointError) as caught:
            loss.backward()
    message = str(caught.value)
    assert message.startswith(
        "lossy: the gradient of its argument x float32 (2,) has 2 inf, first at (0,), while its "
        "inputs are finite: the gradient of its output float32 (2,) from 6 to 8; saved x float32 "
        "(2,) from 3 to 4; at "
    )
    assert "y = lossy(x)  # the line that is named" in message
    assert x.grad is None


def test_a_training_step_without_fault_passes() -> None:
    model = nn.TransformerEncoderLayer(d_model=8, num_heads=2, dim_feedforward=16)
    with minigrad.detect_anomaly():
        heads = minigrad.split(model(minigrad.randn(2, 5, 8)), 2, axis=-1)
        (heads[0] * heads[1]).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_it_is_a_decorator_holds_for_its_thread_and_leaves_nothing_behind() -> None:
    step = minigrad.detect_anomaly()(lambda value: minigrad.exp(tensor(value)))
    with pytest.raises(FloatingPointError):
        step(1000.0)
    assert step(1.0).item() == pytest.approx(np.e)
    values: list[float] = []
    with minigrad.detect_anomaly():
        work = lambda: values.append(minigrad.exp(tensor(-np.inf)).item())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert values == [0.0]
    with np.errstate(over="ignore"):
        assert minigrad.exp(Tensor(1000.0)).item() == np.inf


# An infinite slope times 0 ----------------------------------------------------------------------

SELECTED: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "where": (lambda x: minigrad.where(x > 0, minigrad.sqrt(x), 0.0), "sqrt"),
    "an index": (lambda x: minigrad.sqrt(x)[1:], "sqrt"),
    "a mask": (lambda x: minigrad.sqrt(x)[x > 0], "sqrt"),
    "no slope that is infinite": (lambda x: minigrad.where(x > 0, minigrad.sin(x), 0.0), ""),
    "a factor of 0": (lambda x: minigrad.sqrt(x) * tensor([0.0, 1.0]), "sqrt"),
    "relu": (lambda x: minigrad.relu(minigrad.sqrt(x)), "sqrt"),
}
FLAT: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {  # the derivative at 0 is 1
    "a square": (lambda x: minigrad.sqrt(x) ** 2, "sqrt"),
    "a product": (lambda x: minigrad.sqrt(x) * minigrad.sqrt(x), "sqrt"),
    "a cube": (lambda x: minigrad.cbrt(x) ** 3, "cbrt"),
    "a power": (lambda x: (x**0.5) ** 2, "power"),
    "Hellinger": (lambda x: (minigrad.sqrt(x) - tensor([0.0, 2.0])) ** 2, "sqrt"),
}


@pytest.mark.parametrize("name", SELECTED | FLAT)
def test_an_infinite_slope_times_zero_counts_as_zero_and_is_told(name: str) -> None:
    """Right where an op selected; where one is flat, the page on traps says that it may not be."""
    function, op = (SELECTED | FLAT)[name]

    def told(*values: float) -> list[str]:
        x = tensor(values, requires_grad=True)
        with warnings.catch_warnings(record=True) as found, minigrad.detect_anomaly():
            warnings.simplefilter("always")
            function(x).sum().backward()
        assert x.grad is not None
        assert x.grad[0].item() == 0.0 or values[0]
        return [str(one.message) for one in found]

    assert told(1.0, 3.0) == []
    messages = told(0.0, 3.0)
    assert bool(messages) == bool(op)
    for message in messages:
        assert message.startswith(f"{op}: its slope is not finite where the gradient that comes")
        assert "(1 of its elements, first at (0,))" in message
        assert f'"{name}": (lambda x' in message  # its line
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # without the block it is silent
        function(tensor([0.0, 3.0], requires_grad=True)).sum().backward()


def test_a_slope_that_is_zero_by_definition_is_not_told() -> None:
    x = tensor([2.0], requires_grad=True)
    with warnings.catch_warnings(), minigrad.detect_anomaly(check_nan=False):
        warnings.simplefilter("error")
        (x**0.0).backward(tensor([np.inf]))
    assert x.grad is not None
    assert x.grad.item() == 0.0


def test_a_log_of_zero_is_an_error_before_its_slope_counts_as_zero() -> None:
    x = tensor([0.0, 3.0], requires_grad=True)
    with pytest.raises(FloatingPointError, match="log: its output"), minigrad.detect_anomaly():
        minigrad.exp(minigrad.log(x)).sum().backward()


# Observers --------------------------------------------------------------------------------------


def test_observers_see_every_op_and_every_step_and_nest() -> None:
    class Log(Observer):
        def __init__(self) -> None:
            self.ops: list[str] = []
            self.steps: list[str] = []

        def ran(self, call: Any) -> None:
            assert len(call.arguments) == len(call.values) == len(call.op.params)
            self.ops.append(call.op.name)

        def pulled(self, pull: Any) -> None:
            node = pull.node
            assert len(pull.parts) == len(pull.contributions) == len(pull.totals)
            assert len(pull.parts) == len(node.edges)
            assert not node.freed
            self.steps.append(node.plan.op.name)

    x = minigrad.ones(2, 4, requires_grad=True)
    outer, inner = Log(), Log()
    with outer:
        with inner:
            a, b = minigrad.split(x, 2, axis=1)
            with no_grad():
                _ = a > 0
            c = minigrad.concatenate([a, b * 2.0], axis=1)
        loss = c.sum()
        loss.backward()
    _ = x + 1.0
    assert inner.ops[-3:] == ["greater", "multiply", "concatenate"]
    assert inner.steps == []
    assert outer.ops == [*inner.ops, "sum"]
    assert outer.steps[:2] == ["sum", "concatenate"]
    assert "multiply" in outer.steps
