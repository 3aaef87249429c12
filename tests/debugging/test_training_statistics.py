"""`Statistics`: what is kept of activations and gradients, and written for TensorBoard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, no_grad
from minigrad.debugging import Statistics
from minigrad.debugging.training_statistics import Numbers


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 1)))


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
        hidden = [net[0](Tensor(x)).numpy() for x in inputs]
    assert list(statistics.activations) == ["0", "1", "2.0"], "containers pass on their last output"
    assert list(statistics.gradients) == [name for name, _ in net.named_parameters()]
    for step, array in enumerate(hidden):
        kept = statistics.activations["0"][step]
        assert kept.mean == pytest.approx(array.mean(), abs=1e-6)
        assert kept.deviation == pytest.approx(array.std(), rel=1e-5)
        assert kept.norm == pytest.approx(np.linalg.norm(array), rel=1e-5)
        assert (kept.low, kept.high) == (array.min(), array.max())
        assert kept.count == array.size == sum(kept.histogram) and not kept.bad
        assert statistics.activations["1"][step].zeros == (array <= 0).sum()
    gradient = net[0].weight.grad
    assert gradient is not None
    last = statistics.gradients["0.weight"][1]
    assert last.norm == pytest.approx(np.linalg.norm(gradient.numpy()), rel=1e-5)
    assert f"{last.deviation:.3g}" in str(statistics)


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
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True))
    with Statistics(net) as statistics:
        train(net, statistics, 1)
    assert statistics.activations["0"][0].low < 0 == statistics.activations["1"][0].low


def test_constant_empty_and_infinite_arrays() -> None:
    ones = Numbers.of(np.ones(5))
    assert (ones.mean, ones.deviation, sum(ones.histogram)) == (1, 0, 5)
    assert ones.binned(0, 2).sum() == pytest.approx(5) == ones.binned(1, 1).sum()
    assert (ones + ones).count == 10 == sum((ones + ones).histogram)
    bad = Numbers.of(np.array([np.nan, np.inf, -np.inf, 2.0]))
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
    assert not any(module._hooks for module in net.modules()), "the hooks are gone"


def test_what_cannot_be_kept_is_refused() -> None:
    net = model()
    with pytest.raises(ValueError, match="every.*1.*0"):
        Statistics(net, every=0)
    with Statistics(net) as statistics, pytest.raises(RuntimeError, match=r"after backward\(\)"):
        statistics.step()


def test_without_the_writer_one_line_says_what_to_install(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match="pip install tensorboardX") as caught:
        Statistics(model()).to_tensorboard(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.needs("tensorboardX")
def test_tensorboard_reads_what_is_written(tmp_path: Path) -> None:
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.record_writer import masked_crc32c

    net = model()
    with Statistics(net) as statistics:
        for _ in range(2):  # the second call adds a step
            train(net, statistics, 1)
            statistics.to_tensorboard(tmp_path)
    scalars, histograms = {}, {}
    for path in tmp_path.glob("events.*"):
        data = path.read_bytes()
        while data:  # length, its checksum, record, its checksum
            length = int.from_bytes(data[:8], "little")
            record, data = data[12 : 12 + length], data[16 + length :]
            assert masked_crc32c(record)
            event = Event.FromString(record)
            for value in event.summary.value:
                if value.HasField("histo"):
                    histograms[value.tag, event.step] = value.histo
                else:
                    assert (value.tag, event.step) not in scalars, "written twice"
                    scalars[value.tag, event.step] = value.simple_value
    for step in (0, 1):
        kept = statistics.gradients["0.weight"][step]
        assert scalars["gradients/0.weight/norm", step] == pytest.approx(kept.norm)
        histogram = histograms["activations/0", step]
        assert (histogram.num, sum(histogram.bucket)) == (128, 128)
        assert histogram.bucket_limit[-1] == pytest.approx(histogram.max)
