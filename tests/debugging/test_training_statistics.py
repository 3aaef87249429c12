"""`Statistics`: what is kept of a training, shown while it runs, and written for TensorBoard."""

from __future__ import annotations

import builtins
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, no_grad, optim, tensor
from minigrad.debugging import Statistics, training_statistics
from minigrad.debugging.training_statistics import Numbers


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 1)))


def watched(steps: int, net: nn.Module | None = None, **options: Any) -> Statistics:
    """Statistics of a short training."""
    net = net or model()
    with Statistics(net, **options) as statistics:
        train(net, statistics, steps)
    return statistics


def train(net: nn.Module, statistics: Statistics, steps: int) -> list[np.ndarray]:
    seen = []
    for _ in range(steps):
        net.zero_grad()
        x = minigrad.randn(16, 4)
        (net(x) ** 2).mean().backward()
        statistics.step()
        seen.append(x.numpy())
    return seen


def test_numbers_are_those_of_the_arrays() -> None:
    net = model()
    with Statistics(net) as statistics:
        inputs = train(net, statistics, 2)
    with no_grad():
        hidden = [net[0](tensor(x)).numpy() for x in inputs]
    assert list(statistics.activations) == ["0", "1", "2.0"], "containers pass on their last output"
    assert list(statistics.gradients) == [name for name, _ in net.named_parameters()]
    for step, array in enumerate(hidden):
        kept = statistics.activations["0"][step]
        assert kept.mean == pytest.approx(array.mean(), abs=1e-6)
        size = array.std(), np.linalg.norm(array)
        assert (kept.deviation, kept.norm) == pytest.approx(size, rel=1e-5)
        assert (kept.low, kept.high, kept.bad) == (array.min(), array.max(), 0)
        assert kept.count == array.size == sum(kept.histogram)
        assert statistics.activations["1"][step].zeros == (array <= 0).sum()
    last = statistics.gradients["0.weight"][1]
    assert last.norm == pytest.approx(np.linalg.norm(net[0].weight.grad.numpy()), rel=1e-5)
    assert f"{last.deviation:.3g}" in str(statistics)


def norm(*arrays: np.ndarray) -> float:
    return math.sqrt(sum(float((array.astype(np.float64) ** 2).sum()) for array in arrays))


def test_curves_are_those_of_the_training() -> None:
    net = model()
    first, last = list(net[0].parameters()), list(net[2].parameters())
    optimizer = optim.SGD([{"params": first}, {"params": last, "lr": 0.5}], lr=0.1)
    scheduler = optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    losses, gradients, weights = [], [], []
    with Statistics(net, optimizer=optimizer) as statistics:
        for _ in range(3):
            optimizer.zero_grad()
            loss = (net(minigrad.randn(16, 4)) ** 2).mean()
            loss.backward()
            statistics.step(loss if len(losses) % 2 else loss.item())
            losses.append(loss.item())
            gradients.append(norm(*(p.grad.numpy() for p in first)))
            weights.append([p.numpy().copy() for p in first])
            optimizer.step()
            scheduler.step()
    weights.append([p.numpy() for p in first])
    curves = statistics.curves
    assert curves["loss"] == {"loss": dict(enumerate(losses))}
    assert curves["learning rate"]["group 0"] == pytest.approx({0: 0.05, 1: 0.075, 2: 0.1})
    assert curves["learning rate"]["group 1"] == pytest.approx({0: 0.25, 1: 0.375, 2: 0.5})
    moved = [norm(*map(np.subtract, *pair)) for pair in pairwise(weights)]
    sizes = [norm(*arrays) for arrays in weights[:3]]
    for kind, expected in (("weights", sizes), ("gradients", gradients), ("updates", moved)):
        assert list(curves[kind]) == ["0", "2.0"]
        assert curves[kind]["0"] == pytest.approx(dict(enumerate(expected)), rel=1e-5), kind
    assert repr(statistics) == f"Statistics(3 steps, loss {losses[-1]:.3g}, learning rate 0.1)"


def test_dead_units_are_those_without_a_gradient_from_the_batch() -> None:
    """Rows of an embedding that do not occur are no dead units."""
    hidden, image = nn.Linear(4, 8, bias=False), nn.Conv1d(1, 4, 1)
    words = nn.Embedding(10, 4)
    net = nn.Sequential(words, hidden, nn.ReLU(), nn.Unflatten(1, (1, 8)), image, nn.ReLU())
    with no_grad():
        for layer in (words, hidden, image):
            layer.weight[...] = 1.0
        hidden.weight[:2] = -1.0
        image.bias[0] = -1000.0
    with Statistics(net) as statistics:
        net(np.array([1, 2])).sum().backward()
        statistics.step()
    assert statistics.curves["dead units"] == {"1": {0: 0.25}, "4": {0: 0.25}}


def test_a_long_training_keeps_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_statistics, "POINTS", 8)
    monkeypatch.setattr(training_statistics, "HISTOGRAMS", 4)
    net = model()
    with Statistics(net, every=3) as statistics:
        for step in range(100):
            train(net, statistics, 1)
            points = list(statistics.curves["weights"]["0"])
            histograms = list(statistics.gradients["0.weight"])
            for kept, most in ((points, 8), (histograms, 4)):
                assert kept[0] == 0
                assert len(kept) <= most
                assert len({*np.diff(kept)}) <= 1
                assert step - kept[-1] < max(kept[-1], 3)
    assert points == list(statistics.curves["updates"]["0"]) == list(range(0, 100, 24))
    assert histograms == list(statistics.activations["1"]) == [0, 48, 96]


class Screen:
    """Counts what `display` shows, as IPython's and the playground's do."""

    def __init__(self) -> None:
        self.shown: list[int] = []

    def __call__(self, value: Statistics, *, display_id: bool) -> Screen:
        assert display_id
        self.update(value)
        return self

    def update(self, value: Statistics) -> None:
        assert "<svg" in value._repr_mimebundle_()["text/html"]
        self.shown.append(value._steps)


def test_the_picture_is_live_but_not_drawn_too_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen, now = Screen(), iter(np.arange(0, 100, 0.1).tolist())
    monkeypatch.setattr(training_statistics, "monotonic", lambda: next(now))
    watched(2, live=True)  # there is no display here
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(builtins, "display", screen, raising=False)
    watched(2)
    assert screen.shown == []
    watched(12, live=True)
    assert screen.shown == [1, 6, 11, 12], "the first, each half a second, and the last"
    watched(0, live=True)  # nothing was kept: nothing to show
    assert len(screen.shown) == 4


def test_a_picture_that_fails_does_not_end_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(value: Any, display_id: bool) -> None:  # noqa: ARG001
        raise OSError("the page is gone")

    monkeypatch.setattr(builtins, "display", broken, raising=False)
    with pytest.warns(UserWarning, match="the page is gone") as told:
        statistics = watched(3, live=True)
    assert len(told) == 1
    assert len(statistics.gradients["0.bias"]) == 3


def test_calls_of_one_step_are_taken_together() -> None:
    both = np.concatenate([np.linspace(-1, 1, 640), np.linspace(0, 3, 640)])
    together = Numbers.of(both[:640]) + Numbers.of(both[640:])
    whole = Numbers.of(both)
    for name in ("count", "total", "squares", "low", "high", "zeros", "mean", "deviation", "norm"):
        assert getattr(together, name) == pytest.approx(getattr(whole, name)), name
    np.testing.assert_allclose(together.histogram, whole.histogram, atol=2)
    layer = nn.Linear(2, 2)
    with Statistics(layer) as statistics:
        (layer(minigrad.ones(3, 2)) + layer(minigrad.ones(3, 2) * 2)).sum().backward()
        statistics.step()
    assert statistics.activations["Linear"][0].count == 12


def test_a_layer_in_place_is_no_container() -> None:
    seen = watched(1, nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True))).activations
    assert seen["0"][0].low < 0 == seen["1"][0].low


def test_constant_empty_and_infinite_arrays() -> None:
    ones, bad = Numbers.of(np.ones(5)), Numbers.of(np.array([np.nan, np.inf, -np.inf, 2.0]))
    assert (ones.mean, ones.deviation, sum(ones.histogram)) == (1, 0, 5)
    assert ones.binned(0, 2).sum() == pytest.approx(5) == ones.binned(1, 1).sum()
    assert (ones + ones).count == 10 == sum((ones + ones).histogram)
    assert (bad.count, bad.bad, bad.mean, bad.low) == (4, 3, 2, 2)
    assert Numbers.of(np.zeros(0)).mean == 0
    assert Numbers.of(np.zeros(3)).binned(0, 0).sum() == pytest.approx(3)


def test_only_some_steps_and_nothing_without_recording() -> None:
    net = model()
    with Statistics(net, every=3) as statistics:
        train(net, statistics, 4)
        with no_grad():
            net(minigrad.ones(1, 4))
        train(net, statistics, 3)
    assert list(statistics.gradients["0.bias"]) == [0, 3, 6]
    assert [n.count for n in statistics.activations["2.0"].values()] == [16] * 3
    net(minigrad.ones(1, 4))
    assert not any(module._forward_hooks for module in net.modules()), "the hooks are gone"


def test_what_cannot_be_kept_is_refused() -> None:
    net = model()
    optimizer: Any = optim.SGD(net.parameters(), lr=0.1)
    for args, options, told in (
        ((net, optimizer), {}, "every must be an int, got SGD; .* by name: optimizer="),
        ((optimizer,), {}, "a module expected, got SGD"),
        ((net.parameters(),), {}, "a module expected, got "),
        ((net,), {"optimizer": net}, "an optimizer expected, got Sequential"),
    ):
        with pytest.raises(TypeError, match=f"^Statistics: {told}"):
            Statistics(*args, **options)
    with pytest.raises(ValueError, match="every.*1.*0"):
        Statistics(net, every=0)
    with Statistics(net) as statistics:
        with pytest.raises(RuntimeError, match=r"after backward\(\)"):
            statistics.step()
        net(minigrad.ones(2, 4)).sum().backward()
        for loss, told in ((minigrad.ones(3), r"shape \(3,\)"), ("low", "str"), (1j, "complex")):
            with pytest.raises(ValueError, match=f"loss must be one number, got {told}"):
                statistics.step(loss)
    assert statistics.curves == {}
