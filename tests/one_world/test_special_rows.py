"""`minigrad.special` beside `torch.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import special, tensor

torch = pytest.importorskip("torch")

NUMBERS, SHARES = [[-1.5, 0.25], [2.0, 3.5]], [0.1, 0.5, 0.9]
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda m, t, name=name: getattr(m, name)(t(NUMBERS))
        for name in ("erf", "erfc", "exp2", "expit", "expm1", "ndtr", "sinc")
    },
    **{
        name: lambda m, t, name=name: getattr(m, name)(t(SHARES))
        for name in ("digamma", "entr", "erfinv", "gammaln", "log1p", "ndtri", "psi")
    },
    "log_softmax": lambda m, t: m.log_softmax(t(NUMBERS), 0),
    "softmax": lambda m, t: m.softmax(t(NUMBERS), dim=1),
    "logsumexp": lambda m, t: m.logsumexp(t(NUMBERS), 1, True),
    "logit": lambda m, t: m.logit(t(SHARES), eps=0.2),
    "multigammaln": lambda m, t: m.multigammaln(t([2.5, 3.0]), 2),
    "polygamma": lambda m, t: m.polygamma(1, t(SHARES)),
    "round": lambda m, t: m.round(t(NUMBERS), decimals=1),
    "xlog1py": lambda m, t: m.xlog1py(t([0.0, 2.0]), t([-1.0, 0.5])),
    "xlogy": lambda m, t: m.xlogy(t([0.0, 2.0]), t([0.0, 0.5])),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_call_gives(name: str) -> None:
    ours, theirs = CALLS[name](special, tensor), CALLS[name](torch.special, torch.tensor)
    assert str(theirs.dtype) == f"torch.{ours.numpy().dtype}"
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=1e-6)


def test_every_name_is_tried() -> None:
    assert {*special.__all__} == {*CALLS}
