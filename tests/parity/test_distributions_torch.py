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
WHAT: dict[str, Callable[..., Any]] = {
    "log_prob": lambda lib, p, q, x: p.log_prob(x),
    "entropy": lambda lib, p, q, x: p.entropy(),
    "mean": lambda lib, p, q, x: p.mean,
    "variance": lambda lib, p, q, x: p.variance,
    "stddev": lambda lib, p, q, x: p.stddev,
    "kl": lambda lib, p, q, x: lib.kl_divergence(p, q),
}


PAIRS = [
    (name, what)
    for name in FAMILIES
    for what in WHAT
    if "Categorical" not in name or what not in ("mean", "variance", "stddev")  # of classes
]


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
    if "Categorical" in name:
        return
    found = drawn.numpy().reshape(20000, *drawn.shape[2:])
    mean, deviation = p.mean.numpy(), p.stddev.numpy()
    assert (np.abs(found.mean(0) - mean) < 0.05 * deviation + 1e-12).all()
    np.testing.assert_allclose(found.std(0), deviation, rtol=0.2, atol=1e-2)
    if hasattr(torch.distributions, name) and getattr(torch.distributions, name).has_rsample:
        try:
            again = p.rsample((3,))
        except NotImplementedError:
            assert name in ("Gamma", "Beta", "Dirichlet")  # no simple function of a noise
            return
        again.sum().backward()
        assert all(tensor.grad is not None for tensor in tensors)


def test_refusals() -> None:
    d = distributions
    for call, message in [
        (lambda: d.Bernoulli(1.5), r"^Bernoulli: probs must be from 0 to 1"),
        (lambda: d.Bernoulli(0.5, 0.0), r"^Bernoulli: either probs or logits"),
        (lambda: d.Bernoulli(0.5).log_prob(0.5), r"^Bernoulli\.log_prob: values are 0 or 1"),
        (lambda: d.Exponential(0.0), r"^Exponential: rate must be above 0"),
        (lambda: d.Exponential(1.0).log_prob(-1.0), r"^Exponential\.log_prob: .*at least 0"),
        (lambda: d.Laplace(0.0, -1.0), r"^Laplace: scale must be above 0"),
        (lambda: d.Gamma(-1.0, 1.0), r"^Gamma: concentration must be above 0"),
        (lambda: d.Beta(1.0, 1.0).log_prob(1.5), r"^Beta\.log_prob: values are from 0 to 1"),
        (lambda: d.Dirichlet(1.0), r"^Dirichlet: .*shape \(\)"),
        (lambda: d.Dirichlet([1.0, 1.0]).log_prob([0.5, 0.6]), r"^Dirichlet\.log_prob: .*sum 1"),
        (lambda: d.MultivariateNormal([0.0]), r"^MultivariateNormal: one of .*got \[\]"),
        (lambda: d.MultivariateNormal([0.0], np.eye(2)), r"^Multivariate.*\(1,\) and \(2, 2\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(NotImplementedError, match=r"^kl_divergence: .*got Normal and Laplace"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Laplace(0.0, 1.0))  # type: ignore[arg-type]
