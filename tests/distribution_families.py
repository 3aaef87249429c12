"""Families of distributions, which tests of ours and of PyTorch's make from the same arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape))


LOC, SCALE = draw(4), np.exp(draw(2, 1))
LOGITS, PROBS = draw(3, 5), np.exp(draw(3, 5, seed=1))
CLASSES = np.array([[4, 0, 2], [1, 1, 3]])


def within(*shape: int, seed: int = 0) -> np.ndarray:
    return 1 / (1 + np.exp(-draw(*shape, seed=seed)))


def rows(*shape: int, seed: int = 0) -> np.ndarray:
    parts = np.exp(draw(*shape, seed=seed))
    return parts / parts.sum(-1, keepdims=True)


def factor(*shape: int, seed: int = 0) -> np.ndarray:
    return np.tril(draw(*shape, seed=seed), -1) + np.eye(shape[-1]) * 1.5


POSITIVE, OTHER = np.exp(draw(3, 4)), np.exp(draw(3, 4, seed=1))
FACTOR = factor(2, 3, 3)
Family = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], np.ndarray]
FAMILIES: dict[str, Family] = {
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
    "Gumbel": (lambda d: d.Gumbel, (LOC, SCALE), (draw(4, seed=2), SCALE + 1), draw(3, 1, 4)),
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
"""From a library to a family; the parameters of two of its members, and values of the first."""
