"""Distributions: draws and what is refused. Values and gradients are in tests/parity."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import distributions as d
from minigrad import tensor
from minigrad.distributions import Categorical, Distribution, Normal

LOC, SCALE = np.array([0.5, -1.0, 2.0]), np.array([[0.5], [2.0]])
LOGITS = np.array([[0.2, -1.0, 3.0], [0.0, 0.5, -0.5]])
PROBS = np.exp(LOGITS)
LOG_NORMAL = d.TransformedDistribution(Normal(0.0, 1.0), d.ExpTransform())


class TestNormal:
    def test_gradients_of_draws(self) -> None:
        loc, scale = tensor(LOC, requires_grad=True), tensor(SCALE, requires_grad=True)
        normal = Normal(loc, scale)
        assert not normal.sample(3).requires_grad
        assert [normal.sample(n).shape for n in (3, ())] == [(3, 2, 3), (2, 3)]
        draws = normal.rsample((4,))
        draws.sum().backward()
        np.testing.assert_allclose(loc.grad.numpy(), 8.0)
        noise = (draws.detach() - LOC) / SCALE
        np.testing.assert_allclose(scale.grad.numpy(), noise.numpy().sum((0, 2))[:, None])

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_dtypes(self, dtype: Any) -> None:
        normal = Normal(tensor(LOC, dtype=dtype), tensor(SCALE, dtype=dtype))
        for value in (
            normal.sample(), normal.rsample(), normal.entropy(), normal.mean, normal.stddev,
            normal.log_prob(1),
        ):  # fmt: skip
            assert (value.dtype, value.shape) == (dtype, (2, 3))
        assert Normal(0, 1).log_prob(2).dtype == np.float32


class TestCategorical:
    def test_draws(self) -> None:
        for classes in (Categorical(logits=LOGITS), Categorical(PROBS)):
            minigrad.random.seed(0)
            draws = classes.sample((20_000,))
            assert (classes.sample((20_000,)) != draws).any()
            minigrad.random.seed(0)
            assert (classes.sample((20_000,)) == draws).all()
            assert (draws.shape, draws.dtype) == ((20_000, 2), np.int64)
            shares = [np.bincount(row, minlength=3) / 20_000 for row in draws.numpy().T]
            expected = PROBS / PROBS.sum(1, keepdims=True)
            np.testing.assert_allclose(shares, expected, atol=0.015)
            assert classes.sample().shape == (2,)
            assert classes.sample((2, 5)).shape == (2, 5, 2)
        assert Categorical([0.0, 0.0, 2.0]).sample(3).tolist() == [2, 2, 2]
        assert Categorical(np.ones((0, 3))).sample((4,)).shape == (4, 0)

    def test_a_class_that_never_comes(self) -> None:
        z = tensor([[0.0, 1.0, -np.inf], [-np.inf, 0.0, -np.inf]], requires_grad=True)
        classes = Categorical(logits=z)
        entropy = classes.entropy()
        p = np.array([1.0, np.e]) / (1 + np.e)
        expected = [-(p * np.log(p)).sum(), 0.0]
        np.testing.assert_allclose(entropy.numpy(), expected, rtol=1e-6)
        entropy.sum().backward()
        assert np.isfinite(z.grad.numpy()).all()


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    (r"Normal: scale must be in GreaterThan\(lower_bound=0.0\), got 0", lambda: Normal(0.0, 0.0)),
    ("Normal: scale must be in .*-1", lambda: Normal(0.0, [1.0, -1.0])),
    ("Normal: scale must be in .*nan", lambda: Normal(0.0, np.nan)),
    (r"Normal: loc must be in Real\(\), got nan", lambda: Normal(np.nan, 1.0)),
    (r"Normal\.log_prob: values must be in .*nan", lambda: Normal(0.0, 1.0).log_prob(np.nan)),
    (r"Normal\.icdf: values must be in Interval.*1.5", lambda: Normal(0.0, 1.0).icdf(1.5)),
    ("Categorical: either probs or logits", lambda: Categorical()),
    ("Categorical: either probs or logits", lambda: Categorical([1.0], [0.0])),
    (r".*probs of shape \(..., classes\) .* got \(\)", lambda: Categorical(1.0)),
    (r".*at least one class, got \(0,\)", lambda: Categorical([])),
    ("Categorical: probs must be .*at least 0", lambda: Categorical([-1.0, -2.0])),
    ("Categorical: probs must be .*above 0", lambda: Categorical([[1.0, 2.0], [0.0, 0.0]])),
    ("Categorical: probs must be .*finite", lambda: Categorical([np.inf, 2.0])),
    (".*logits must be .*finite", lambda: Categorical(logits=[-np.inf, -np.inf])),
    (".*logits must be .*finite", lambda: Categorical(logits=[np.inf, 0.0])),
    (".*logits must be .*nan", lambda: Categorical(logits=[np.nan, 0.0])),
    (".*upper_bound=1.*, got 2", lambda: Categorical([1.0, 1.0]).log_prob(2)),
    (".*upper_bound=1.*, got -1", lambda: Categorical([1.0, 1.0]).log_prob(-1)),
    (".*IntegerInterval.*, got 0.5", lambda: Categorical([1.0, 1.0]).log_prob(0.5)),
    (r"Bernoulli: probs must be in Interval.*1\.0\), got 1\.5", lambda: d.Bernoulli(1.5)),
    ("Bernoulli: either probs or logits", lambda: d.Bernoulli(0.5, 0.0)),
    (r"Bernoulli\.log_prob: values .*Boolean\(\), ", lambda: d.Bernoulli(0.5).log_prob(0.5)),
    (r"Dirichlet: .*shape \(\)", lambda: d.Dirichlet(1.0)),
    (r"Dirichlet\.log_prob: .*Simplex", lambda: d.Dirichlet([1.0, 1.0]).log_prob([0.5, 0.6])),
    (r".*\(\.\.\., 2\) expected, got \(1,\)", lambda: d.Dirichlet([1.0, 1.0]).log_prob([1.0])),
    (r"MultivariateNormal: one of .*got \[\]", lambda: d.MultivariateNormal([0.0])),
    (r"Multivariate.*\(1,\) and \(2, 2\)", lambda: d.MultivariateNormal([0.0], np.eye(2))),
    ("MultivariateNormal: scale_tril must be in LowerCholesky",
     lambda: d.MultivariateNormal([0.0, 0.0], scale_tril=np.ones((2, 2)))),
    (r"Uniform: high .*GreaterThan\(lower_bound=1\.0\), got 1", lambda: d.Uniform(1.0, 1.0)),
    (r"Uniform\.log_prob: .*=1\.0\), got 2\.0", lambda: d.Uniform(0.0, 1.0).log_prob(2.0)),
    (r"Binomial: total_count .*Integer.*got 1\.5", lambda: d.Binomial(1.5, 0.5)),
    (r"Binomial\.log_prob: .*upper_bound=2.*got 3", lambda: d.Binomial(2, 0.5).log_prob(3)),
    (r"Geometric: probs .*0 < p <= 1.*got 0\.0", lambda: d.Geometric(0.0)),
    ("Independent: .*from 0 to 0, .*got 1", lambda: d.Independent(Normal(0.0, 1.0), 1)),
    ("Transformed.*list of", lambda: d.TransformedDistribution(Normal(0.0, 1.0), [abs])),
    ("Transformed.*log_prob: ExpTransform.*not reach", lambda: LOG_NORMAL.log_prob(-1.0)),
    ("TanhTransform: cache_size must be 0 or 1, .*2", lambda: d.TanhTransform(cache_size=2)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "make"), REFUSED)
def test_refusals(message: str, make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


UNEQUAL, DF = d.Binomial([1, 2], 0.5), tensor(3.0, requires_grad=True)
UNDEFINED: list[tuple[str, Callable[[], Any]]] = [
    (".*use sample.. and log_prob", lambda: Categorical([1.0]).rsample()),
    ("Distribution does not define", lambda: Distribution(()).sample()),
    (r"StudentT\.rsample: .*df\.detach", lambda: d.StudentT(DF).rsample()),
    ("Binomial: .*numbers of trials are equal", lambda: UNEQUAL.entropy()),
    ("kl_div.*at least as many", lambda: d.kl_divergence(UNEQUAL, d.Binomial(2, 0.5))),
    ("TransformedDistribution .*define kl", lambda: d.kl_divergence(LOG_NORMAL, LOG_NORMAL)),
    ("Transform does not define _call", lambda: d.Transform()(1.0)),
    ("kl_divergence: .*got Normal and Laplace",
     lambda: d.kl_divergence(Normal(0.0, 1.0), d.Laplace(0.0, 1.0))),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("message", "call"), UNDEFINED)
def test_what_a_distribution_does_not_do(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(NotImplementedError, match=f"^{message}"):
        call()


def test_a_shape_is_no_negative_number() -> None:
    with pytest.raises(TypeError, match=r"^Normal\.sample: a shape"):
        Normal(0.0, 1.0).sample(-1)
