"""Distributions against PyTorch's: values, and gradients of every parameter."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from distribution_families import FAMILIES, LOGITS, PROBS
from side_by_side import both, torch

import minigrad
from minigrad import distributions

SOME = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])

CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "logits": (lambda d, z: d.Categorical(logits=z).logits, (LOGITS,)),
    "probs of logits": (lambda d, z: d.Categorical(logits=z).probs, (LOGITS,)),
    "probs": (lambda d, p: d.Categorical(p).probs, (PROBS,)),
    "logits of probs": (lambda d, p: d.Categorical(p).logits, (PROBS,)),
    "logits of probs with zeros": (lambda d, p: d.Categorical(p).logits, (SOME,)),
    "entropy of probs with zeros": (lambda d, p: d.Categorical(p).entropy(), (SOME,)),
}


@pytest.mark.parametrize(("function", "inputs"), CASES.values(), ids=CASES)
def test_values_and_gradients(function: Callable[..., Any], inputs: tuple[np.ndarray, ...]) -> None:
    both(partial(function, distributions), partial(function, torch.distributions), *inputs)


WHAT: dict[str, Callable[..., Any]] = {
    "log_prob": lambda lib, p, q, x: p.log_prob(x),
    "entropy": lambda lib, p, q, x: p.entropy(),
    "mean": lambda lib, p, q, x: p.mean,
    "variance": lambda lib, p, q, x: p.variance,
    "stddev": lambda lib, p, q, x: p.stddev,
    "kl": lambda lib, p, q, x: lib.kl_divergence(p, q),
}


MOMENTS = {"mean", "variance", "stddev"}
UNDEFINED = {
    "Categorical": MOMENTS, "Categorical of logits": MOMENTS,
    "Poisson": {"entropy"}, "StudentT": {"kl"},
    **dict.fromkeys(
        ("LogNormal", "Squashed", "Logistic", "Affine of vectors"), MOMENTS | {"entropy", "kl"}
    ),
}  # fmt: skip
"""What PyTorch has not of a family, and what is a constant."""
PAIRS = [(name, what) for name in FAMILIES for what in WHAT if what not in UNDEFINED.get(name, ())]


@pytest.mark.parametrize(("name", "what"), PAIRS)
def test_every_family(name: str, what: str) -> None:
    """Values, and gradients of the parameters of both distributions."""
    family, mine, others, value = FAMILIES[name]

    def call(lib: Any, *tensors: Any) -> Any:
        make, n = family(lib), len(mine)
        x = minigrad.tensor(value) if lib is distributions else torch.tensor(value)
        return WHAT[what](lib, make(*tensors[:n]), make(*tensors[n:]), x)

    triangle = lambda g: g.tril() if name == "MultivariateNormal" and g.ndim > 2 else g
    libraries = partial(call, distributions), partial(call, torch.distributions)
    both(*libraries, *mine, *others, gradient=triangle)  # we read no more of it


@pytest.mark.parametrize("name", FAMILIES)
def test_samples(name: str) -> None:
    """Their shape, their mean and their variance; and the gradients of differentiable ones."""
    minigrad.random.seed(0)
    family, arrays, _, _ = FAMILIES[name]
    tensors = [minigrad.tensor(a, requires_grad=True) for a in arrays]
    p = family(distributions)(*tensors)
    drawn = p.sample((2, 10000))
    assert drawn.shape == (2, 10000, *p.batch_shape, *p.event_shape)
    assert not drawn.requires_grad
    assert p.sample().dtype == drawn.dtype
    if "mean" in UNDEFINED.get(name, ()):
        return
    found = drawn.numpy().reshape(20000, *drawn.shape[2:])
    mean, deviation = p.mean.numpy(), p.stddev.numpy()
    assert (np.abs(found.mean(0) - mean) < 0.05 * deviation + 1e-12).all()
    np.testing.assert_allclose(found.std(0), deviation, rtol=0.2, atol=1e-2)
    if not getattr(getattr(torch.distributions, name, None), "has_rsample", False):
        return
    if name in ("Gamma", "Beta", "Dirichlet", "StudentT"):  # no simple function of a noise
        with pytest.raises(NotImplementedError, match="log_prob"):
            p.rsample((3,))
    else:
        p.rsample((3,)).sum().backward()
        assert all(tensor.grad is not None for tensor in tensors)


def test_where_the_divergence_is_infinite() -> None:
    """The first may give values that the second never does."""
    for d, array in ((distributions, minigrad.tensor), (torch.distributions, torch.tensor)):
        wider = d.kl_divergence(d.Uniform(array([0.0, 1.0]), 3.0), d.Uniform(1.0, 3.0))
        more = d.kl_divergence(d.Binomial(array([3, 2]), array(0.5)), d.Binomial(2, array(0.25)))
        assert [np.isinf(np.asarray(found)).tolist() for found in (wider, more)] == [
            [True, False]
        ] * 2


def test_a_saturated_sample_has_a_finite_density() -> None:
    """The cache gives back the very number of which tanh is 1."""
    minigrad.random.seed(0)
    base = distributions.Normal(minigrad.full((100,), 30.0, requires_grad=True), 1.0)
    squashed = distributions.TransformedDistribution(
        base, distributions.TanhTransform(cache_size=1)
    )
    drawn = squashed.rsample()
    assert (drawn == 1).any()
    density = squashed.log_prob(drawn)
    density.sum().backward()
    assert np.isfinite(density.detach().numpy()).all()
    assert np.isfinite(base.loc.grad.numpy()).all()
