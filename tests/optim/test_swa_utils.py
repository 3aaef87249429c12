"""Averages of weights: copies, modes, state, and what they refuse."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor
from minigrad.optim import swa_utils
from minigrad.optim.swa_utils import AveragedModel, get_ema_avg_fn


def test_the_average_is_a_copy_with_weights_of_its_own() -> None:
    """Shared weights stay shared, and the model is not held by the average."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    average = AveragedModel(model)
    assert average.module[0].weight is average.module[1].weight
    assert average.module[0].weight is not model[0].weight
    before = average.module[0].bias.tolist()
    model[0].bias.data[...] += 1
    assert average.module[0].bias.tolist() == before
    average.update_parameters(model)
    np.testing.assert_array_equal(average.module[0].bias.numpy(), model[0].bias.numpy())
    x = minigrad.ones(3, 2)
    assert (average(x) == model(x)).all()


@pytest.mark.parametrize("options", [{}, {"avg_fn": get_ema_avg_fn(0.9)}])
def test_dtypes_stay_and_nothing_is_recorded(options: dict[str, Any]) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).half()
    average = AveragedModel(model, use_buffers=True, **options)
    for _ in range(3):
        model(minigrad.ones(3, 2, dtype=np.float16))
        average.update_parameters(model)
    for name, theirs in model.state_dict().items():
        assert average.module.state_dict()[name].dtype == theirs.dtype
    assert all(p.is_leaf and p.requires_grad for p in average.parameters())
    assert average.n_averaged.item() == 3


def test_who_needs_the_old_average_is_told() -> None:
    model = nn.Linear(2, 1)
    average = AveragedModel(model)
    loss = average(minigrad.ones(1, 2, requires_grad=True)).sum()
    average.update_parameters(model)
    with pytest.raises(RuntimeError, match="written in place"):
        loss.backward()


def test_going_on_from_a_saved_state() -> None:
    model = nn.Linear(2, 1)
    average, again = AveragedModel(model), AveragedModel(nn.Linear(2, 1))
    for value in (1.0, 2.0):
        nn.init.constant(model.weight, value)
        average.update_parameters(model)
    again.load_state_dict(average.state_dict())
    nn.init.constant(model.weight, 6.0)
    for one in (average, again):
        one.update_parameters(model)
        assert one.module.weight.tolist() == [[3.0, 3.0]]


def test_running_statistics_are_those_of_all_batches() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    batches = [rng.standard_normal((6, 3)).astype(np.float32) for _ in range(4)]
    ours, theirs = (
        some.Sequential(some.BatchNorm1d(3), some.Linear(3, 2), some.BatchNorm1d(2)).eval()
        for some in (nn, torch.nn)
    )
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
    swa_utils.update_bn([(tensor(batch), 0) for batch in batches], ours)
    torch.optim.swa_utils.update_bn([torch.tensor(batch) for batch in batches], theirs)
    for (name, mine), other in zip(ours.named_buffers(), theirs.buffers(), strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5, err_msg=name)
    assert not any(module.training for module in ours.modules())
    assert ours[0].momentum == 0.1
