"""Distributions against PyTorch's: values, and gradients of every parameter."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from side_by_side import both, draw, torch

import minigrad
from minigrad import distributions

LOC, SCALE = draw(4), np.exp(draw(2, 1))
LOGITS, PROBS = draw(3, 5), np.exp(draw(3, 5, seed=1))
SOME = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
CLASSES = np.array([[4, 0, 2], [1, 1, 3]])

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


def within(*shape: int, seed: int = 0) -> np.ndarray:
    return 1 / (1 + np.exp(-draw(*shape, seed=seed)))


def rows(*shape: int, seed: int = 0) -> np.ndarray:
    parts = np.exp(draw(*shape, seed=seed))
    return parts / parts.sum(-1, keepdims=True)


def factor(*shape: int, seed: int = 0) -> np.ndarray:
    return np.tril(draw(*shape, seed=seed), -1) + np.eye(shape[-1]) * 1.5


POSITIVE, OTHER = np.exp(draw(3, 4)), np.exp(draw(3, 4, seed=1))
FACTOR = factor(2, 3, 3)
FAMILIES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], np.ndarray]] = {
    "Normal": (lambda d: d.Normal, (LOC, SCALE), (draw(4, seed=2), SCALE + 1), draw(3, 1, 4)),
    "Categorical": (lambda d: d.Categorical, (rows(3, 5),), (rows(3, 5, seed=1),), CLASSES[:, :1]),
    "Categorical of logits": (
        lambda d: lambda z: d.Categorical(logits=z), (LOGITS[0],), (draw(5, seed=1),), CLASSES),
    "Bernoulli": (
        lambda d: d.Bernoulli, (within(3, 4),), (within(3, 4, seed=1),), (draw(3, 4) > 0) * 1.0),
    "Bernoulli of logits": (
        lambda d: lambda z: d.Bernoulli(logits=z), (40 * draw(3, 4),), (draw(3, 4, seed=1),),
        (draw(3, 4) > 0) * 1.0),
    "Exponential": (lambda d: d.Exponential, (POSITIVE,), (OTHER,), np.exp(draw(2, 3, 4))),
    "Laplace": (lambda d: d.Laplace, (LOC, SCALE), (draw(4, seed=2), SCALE + 1), draw(3, 1, 4)),
    "Gamma": (lambda d: d.Gamma, (POSITIVE, SCALE[:1]), (OTHER, SCALE[1:]), np.exp(draw(2, 3, 4))),
    "Beta": (lambda d: d.Beta, (POSITIVE, SCALE[:1]), (OTHER, SCALE[1:]), within(2, 3, 4)),
    "Dirichlet": (lambda d: d.Dirichlet, (POSITIVE,), (OTHER,), rows(2, 3, 4)),
    "MultivariateNormal": (
        lambda d: lambda m, s: d.MultivariateNormal(m, scale_tril=s), (draw(3), FACTOR),
        (draw(2, 3), factor(1, 3, 3, seed=1)), draw(4, 2, 3)),
    "MultivariateNormal of a covariance": (
        lambda d: d.MultivariateNormal, (draw(2, 3), FACTOR @ FACTOR.mT),
        (draw(3), np.eye(3) + 0.2), draw(4, 2, 3)),
    "MultivariateNormal of a precision": (
        lambda d: lambda m, s: d.MultivariateNormal(m, precision_matrix=s),
        (draw(2, 3), FACTOR @ FACTOR.mT), (draw(3), np.eye(3) + 0.2), draw(4, 2, 3)),
}  # fmt: skip
COUNTS = np.array([[[0.0, 1.0, 2.0, 5.0]]])
FAMILIES |= {
    "Uniform": (
        lambda d: d.Uniform, (LOC, LOC + SCALE), (LOC - 1, LOC + SCALE + 1), LOC + 0.5 * SCALE),
    "Poisson": (lambda d: d.Poisson, (POSITIVE,), (OTHER,), COUNTS),
    "Binomial": (
        lambda d: lambda p: d.Binomial(5, p), (within(3, 4),), (within(3, 4, seed=1),), COUNTS),
    "Binomial of logits": (
        lambda d: lambda z: d.Binomial(5, logits=z), (4 * draw(3, 4),), (draw(3, 4, seed=1),),
        COUNTS),
    "Geometric": (lambda d: d.Geometric, (within(3, 4),), (within(3, 4, seed=1),), COUNTS),
    "Geometric of logits": (
        lambda d: lambda z: d.Geometric(logits=z), (draw(3, 4),), (draw(3, 4, seed=1),), COUNTS),
    "StudentT": (lambda d: d.StudentT, (POSITIVE + 2.5, LOC, SCALE[:1]), (OTHER, LOC, SCALE[1:]),
                 draw(2, 3, 4)),
    "Independent": (
        lambda d: lambda m, s: d.Independent(d.Normal(m, s), 1), (LOC, SCALE),
        (draw(4, seed=2), SCALE + 1), draw(3, 1, 4)),
    "LogNormal": (
        lambda d: lambda m, s: d.TransformedDistribution(d.Normal(m, s), d.ExpTransform()),
        (LOC, SCALE), (draw(4, seed=2), SCALE + 1), np.exp(draw(3, 1, 4))),
    "Squashed": (
        lambda d: lambda m, s: d.TransformedDistribution(
            d.Independent(d.Normal(m, s), 1), [d.TanhTransform(cache_size=1)]),
        (LOC, SCALE), (draw(4, seed=2), SCALE + 1), np.tanh(draw(3, 1, 4))),
    "Logistic": (
        lambda d: lambda m, s: d.TransformedDistribution(
            d.Uniform(0.0, 1.0), [d.SigmoidTransform().inv, d.AffineTransform(m, s)]),
        (draw(2, 4), -SCALE), (draw(2, 4), -SCALE), draw(3, 1, 4)),
    "Affine of vectors": (
        lambda d: lambda m, s: d.TransformedDistribution(
            d.Normal(m, s), [d.AffineTransform(1.0, 3.0, event_dim=1), d.SigmoidTransform()]),
        (LOC, SCALE), (draw(4, seed=2), SCALE + 1), within(3, 1, 4)),
}  # fmt: skip
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
