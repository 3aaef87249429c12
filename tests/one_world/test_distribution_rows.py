"""Distributions beside PyTorch's: cdf, icdf, expand, enumerate_support, validate_args, repr."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from distribution_families import FAMILIES

import minigrad

torch = pytest.importorskip("torch")
WORLDS = (minigrad, torch)


def values(result: Any) -> Any:
    """The numbers of a tensor, or of each in a container, with their shapes."""
    if isinstance(result, (tuple, list)):
        return [values(part) for part in result]
    return result.detach().numpy() if hasattr(result, "detach") else result


def same(ours: Any, theirs: Any) -> None:
    """Equal shapes and dtypes, and nearly equal numbers."""
    assert np.shape(ours) == np.shape(theirs)
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def line(t: Any) -> Any:
    return t.tensor([-1.5, 0.0, 0.25, 2.0])


def shares(t: Any) -> Any:
    return t.tensor([0.1, 0.25, 0.5, 0.99])


def falling(d: Any) -> Any:
    """A logistic-normal distribution from 0 to 1, of a transform that decreases."""
    return d.TransformedDistribution(
        d.Normal(0.5, 2.0), [d.AffineTransform(1.0, -2.0), d.SigmoidTransform()]
    )


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "Normal.cdf": lambda t, d: d.Normal(0.5, 2.0).cdf(line(t)),
    "Normal.icdf": lambda t, d: d.Normal(0.5, 2.0).icdf(shares(t)),
    "Normal of NumPy's number": lambda t, d: d.Normal(line(t), np.sqrt(2.0)).cdf(line(t)),
    "Gamma of NumPy's numbers": lambda t, d: d.Gamma(np.sqrt(2.0), np.float64(3.0)).mean,
    "Gumbel.cdf": lambda t, d: d.Gumbel(0.5, 2.0).cdf(line(t)),
    "Gumbel.icdf": lambda t, d: d.Gumbel(0.5, 2.0).icdf(shares(t)),
    "Laplace.cdf": lambda t, d: d.Laplace(0.5, 2.0).cdf(line(t)),
    "Laplace.icdf": lambda t, d: d.Laplace(0.5, 2.0).icdf(shares(t)),
    "Exponential.cdf": lambda t, d: d.Exponential(0.5).cdf(abs(line(t))),
    "Exponential.icdf": lambda t, d: d.Exponential(0.5).icdf(shares(t)),
    "Uniform.cdf": lambda t, d: d.Uniform(-2.0, 3.0).cdf(line(t)),
    "Uniform.icdf": lambda t, d: d.Uniform(-2.0, 3.0).icdf(shares(t)),
    "Uniform.log_prob outside": lambda t, d: d.Uniform(0.0, 1.0, validate_args=False).log_prob(
        line(t)
    ),
    "TransformedDistribution.cdf": lambda t, d: falling(d).cdf(shares(t)),
    "TransformedDistribution.icdf": lambda t, d: falling(d).icdf(shares(t)),
    "SigmoidTransform of large numbers": lambda t, d: d.SigmoidTransform()(100 * line(t)),
    "StudentT.mean": lambda t, d: d.StudentT(t.tensor([0.5, 1.0, 1.5])).mean,
    "StudentT.variance": lambda t, d: d.StudentT(t.tensor([1.0, 1.5, 2.0, 4.0])).variance,
    "Geometric of certainty": lambda t, d: d.Geometric(t.ones(1)).log_prob(t.tensor([1.0])),
    "Bernoulli of certainty": lambda t, d: d.kl_divergence(
        d.Bernoulli(t.tensor([0.0, 1.0, 0.3, 0.3, 0.0, 1.0, 0.0])),
        d.Bernoulli(t.tensor([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.3])),
    ),
    **{
        f"OneHotCategorical: {name}": lambda t, d, asked=asked: asked(
            d.OneHotCategorical(t.tensor([[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]])), t
        )
        for name, asked in {
            "log_prob": lambda one, t: one.log_prob(t.eye(3)[:, None]),
            "mean": lambda one, t: one.mean,
            "entropy": lambda one, t: one.entropy(),
            "variance": lambda one, t: one.variance,
            "enumerate_support": lambda one, t: one.enumerate_support(),
            "one of each": lambda one, t: one.enumerate_support(expand=False),
            "event_shape": lambda one, t: one.expand((3, 2)).sample((4,)).shape,
            "logits": lambda one, t: type(one)(logits=one.logits + 1).log_prob(t.eye(3)[0]),
        }.items()
    },
    "OneHotCategorical: kl": lambda t, d: d.kl_divergence(
        d.OneHotCategorical(t.tensor([0.1, 0.9])), d.OneHotCategorical(logits=t.zeros(2))
    ),
    "_batch_shape": lambda t, d: d.Dirichlet(t.ones(2, 3))._batch_shape,
    "_extended_shape": lambda t, d: d.Dirichlet(t.ones(2, 3))._extended_shape(t.Size([4])),
    "perplexity": lambda t, d: d.Categorical(t.tensor([0.25, 0.75])).perplexity(),
    "precision_matrix": lambda t, d: (
        d.MultivariateNormal(t.zeros(2), t.tensor([[2.0, 0.5], [0.5, 1.0]])).precision_matrix
    ),
    "without checks": lambda t, d: d.Exponential(1.0, validate_args=False).log_prob(line(t)),
    "no check of parameters": lambda t, d: d.Normal(0.0, -1.0, validate_args=False).cdf(line(t)),
    "no check of probabilities": lambda t, d: d.Bernoulli(
        t.tensor(0.5), validate_args=False
    ).log_prob(t.tensor(0.5)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values(case: Callable[[Any, Any], Any]) -> None:
    ours, theirs = (values(case(world, world.distributions)) for world in WORLDS)
    same(ours, theirs)


@pytest.mark.parametrize("dtype", [minigrad.float32, minigrad.float64])
def test_samples_of_small_concentrations(dtype: Any) -> None:
    """Most are nearer to a border than a float can be."""
    minigrad.manual_seed(0)
    small = minigrad.tensor(1e-5, dtype=dtype)
    for family, sides in ((minigrad.distributions.Beta, 0.5), (minigrad.distributions.Gamma, 0)):
        x = family(small, small).sample((1000,))
        assert bool(((x > 0) & ((x < 1) | (sides == 0)) & x.isfinite()).all())
        assert abs(float((x > 0.9).float().mean()) - sides) < 0.05
    x = minigrad.distributions.Dirichlet(small.repeat(4)).sample((2000,))
    np.testing.assert_allclose(x.mean(0).tolist(), 0.25, atol=0.04)


def made(name: str, t: Any) -> Any:
    """A distribution of one of the worlds."""
    family, arrays, _, _ = FAMILIES[name]
    return family(t.distributions)(*map(t.tensor, arrays))


families = pytest.mark.parametrize("name", FAMILIES)


@families
def test_expand(name: str) -> None:
    def facts(t: Any) -> Any:
        before = made(name, t)
        after = before.expand((2, *before.batch_shape))
        sample = after.sample((5,))
        return (
            type(after).__name__, tuple(before.batch_shape), tuple(after.batch_shape),
            tuple(after.event_shape), tuple(sample.shape), tuple(after.log_prob(sample).shape),
        )  # fmt: skip

    assert facts(minigrad) == facts(torch)


@families
def test_sets(name: str) -> None:
    """PyTorch's, but that a `Categorical` takes weights, and a `Geometric` must end."""
    ours, theirs = (made(name, world) for world in WORLDS)
    for parameter, constraint in ours.arg_constraints.items():
        own = type(ours).__name__ in ("Categorical", "Dirichlet", "Geometric") or parameter == "low"
        assert own or words(repr(constraint)) == words(repr(theirs.arg_constraints[parameter]))
    if type(ours).__name__ in ("Independent", "TransformedDistribution"):
        with pytest.raises(NotImplementedError, match="does not define support"):
            ours.support
    else:
        assert words(repr(ours.support)) == words(repr(theirs.support))


@families
@pytest.mark.parametrize("expand", [True, False])
def test_enumerate_support(name: str, expand: bool) -> None:
    ours, theirs = (made(name, world) for world in WORLDS)
    if not theirs.has_enumerate_support:
        with pytest.raises(NotImplementedError, match="enumerate_support"):
            ours.enumerate_support(expand)
        return
    same(*(values(one.enumerate_support(expand)) for one in (ours, theirs)))


SETS = (
    "real", "positive", "nonnegative", "unit_interval", "boolean", "nonnegative_integer", "simplex",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [*SETS, "interval", "greater_than", "greater_than_eq", "less_than"]
)
def test_constraints(name: str) -> None:
    numbers = [[-1.0, 0.0, 0.5], [0.25, 0.75, 0.0], [1.0, 3.0, float("nan")]]

    def facts(t: Any) -> Any:
        made = getattr(t.distributions.constraints, name)
        if name not in SETS:
            made = made(0.25, 1.0) if name == "interval" else made(0.5)
        return made.check(t.tensor(numbers)).tolist(), repr(made), made.is_discrete, made.event_dim

    assert facts(minigrad) == facts(torch)


@pytest.mark.parametrize("world", WORLDS)
def test_a_distribution_of_ones_own_is_checked(world: Any) -> None:
    d = world.distributions

    class Triangle(d.Distribution):  # type: ignore[misc]
        arg_constraints: Any = {"width": d.constraints.positive}  # noqa: RUF012

        def __init__(self, width: Any, validate_args: Any = None) -> None:
            self.width = width
            super().__init__(width.shape, validate_args=validate_args)

        @d.constraints.dependent_property
        def support(self) -> Any:
            return d.constraints.interval(-self.width, self.width)

    made = Triangle(world.ones(2))
    assert made.support.check(world.tensor([0.5, 2.0])).tolist() == [True, False]
    with pytest.raises(ValueError, match=r"width"):
        Triangle(-world.ones(2))
    Triangle(-world.ones(2), validate_args=False)


def words(text: str) -> list[str]:
    said = r"(torch|minigrad)\.Size|dtype=torch\.float64|tensor\(|[\[\](),]"
    numbers = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", text)
    return re.sub(said, " ", numbers).split()


@families
def test_what_is_printed(name: str) -> None:
    """Numbers, and of more of them the shape; PyTorch's Beta shows nothing, ours its parameters."""
    ours, theirs = (repr(made(name, world)) for world in WORLDS)
    if name == "Beta":
        theirs = "Beta(concentration1: torch.Size([3, 4]), concentration0: torch.Size([3, 4]))"
    assert words(ours) == words(theirs)


@pytest.mark.parametrize(
    "make",
    [
        lambda t, d: d.Normal(0.0, 2.0), lambda t, d: d.Bernoulli(0.5),
        lambda t, d: d.Gamma(1.0, 2.0), lambda t, d: d.Laplace(0.0, 1.0),
    ],
)  # fmt: skip
def test_what_is_printed_of_numbers(make: Callable[[Any, Any], Any]) -> None:
    assert repr(make(minigrad, minigrad.distributions)) == repr(make(torch, torch.distributions))


def test_checks_may_be_off_for_all() -> None:
    for world in WORLDS:
        d = world.distributions
        d.Distribution.set_default_validate_args(False)
        try:
            d.Normal(0.0, -1.0)
        finally:
            d.Distribution.set_default_validate_args(True)
        with pytest.raises(ValueError):  # noqa: PT011
            d.Normal(0.0, -1.0)
