"""The digits model of exercise 24 is that of examples/digits.py."""

from __future__ import annotations

import numpy as np
from digits import DigitReader

import minigrad
from minigrad.learn.digits import OURS, digit_reader, digits, parameters


def test_the_model_of_the_exercise_is_that_of_the_example() -> None:
    model = DigitReader(width=64, heads=4, layers=2).to(minigrad.float64)
    p = parameters(width=64, layers=2)
    assert {name: value.shape for name, value in p.items()} == {
        name: value.shape for name, value in model.state_dict().items()
    }
    model.load_state_dict({name: minigrad.tensor(value) for name, value in p.items()})
    images, _ = digits(5, seed=0)
    tensors = {name: OURS.Tensor(value) for name, value in p.items()}
    ours = digit_reader(OURS, tensors, images, heads=4)
    assert np.allclose(ours, model(minigrad.tensor(images)), rtol=1e-12)
