"""Probability distributions with the names of `torch.distributions`.

Everything but `sample` is differentiable, also the samples of `rsample`.
"""

from minigrad.distributions import constraints
from minigrad.distributions.categorical import Categorical, OneHotCategorical
from minigrad.distributions.counts import Bernoulli, Binomial, Geometric, Poisson
from minigrad.distributions.distribution import Distribution, kl_divergence
from minigrad.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from minigrad.distributions.multivariate_normal import MultivariateNormal
from minigrad.distributions.normal import Gumbel, Laplace, Normal, StudentT
from minigrad.distributions.transformed import Independent, TransformedDistribution
from minigrad.distributions.transforms import (
    AffineTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
)  # fmt: skip
from minigrad.distributions.uniform import Uniform

__all__ = [
    "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Dirichlet", "Distribution",
    "ExpTransform", "Exponential", "Gamma", "Geometric", "Gumbel", "Independent",
    "Laplace", "MultivariateNormal", "Normal", "OneHotCategorical", "Poisson", "SigmoidTransform",
    "StudentT", "TanhTransform", "Transform", "TransformedDistribution", "Uniform", "constraints",
    "kl_divergence",
]  # fmt: skip
