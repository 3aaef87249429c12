"""The models of exercises 24 and 25: the digits model, and the one with three faults."""

from typing import Any

import numpy as np
import pytest
from digits import DigitReader

import minigrad
from minigrad.autograd import gradcheck, why_no_grad
from minigrad.checking import GradientError
from minigrad.learn.digits import OURS, digit_reader, digits, parameters
from minigrad.learn.statement import exercise


def test_the_model_of_the_exercise_is_that_of_the_example() -> None:
    model = DigitReader(width=64, heads=4, layers=2).to(minigrad.float64)
    p = parameters(width=64, layers=2)
    shapes, state = {name: value.shape for name, value in p.items()}, model.state_dict()
    assert shapes == {name: value.shape for name, value in state.items()}
    model.load_state_dict({name: minigrad.tensor(value) for name, value in p.items()})
    images, _ = digits(5, seed=0)
    tensors = {name: OURS.Tensor(value) for name, value in p.items()}
    ours = digit_reader(OURS, tensors, images, heads=4)
    assert np.allclose(ours, model(minigrad.tensor(images)), rtol=1e-12)


def test_the_tools_name_the_three_faults() -> None:
    names: dict[str, Any] = {}
    exec(exercise(25).solution, names)
    model = names["Reader"]().to("float64")

    def compute(padded: bool = False) -> Any:
        return names["loss"](model, *names["batch"](padded))

    assert "no_grad: linear is not recorded" in why_no_grad(model.score.weight, compute)
    with pytest.raises(FloatingPointError, match="^log: its output"), minigrad.detect_anomaly():
        compute(padded=True)
    with pytest.raises(GradientError, match="the rule of squash for x is wrong"):
        gradcheck(lambda *_: compute(), [model.hidden.weight])
    reasons = {name: why_no_grad(p, compute) for name, p in model.named_parameters()}
    assert [name for name in reasons if "connected" not in reasons[name]] == ["score.weight"]
