"""Probability distributions with the names of `torch.distributions`.

Everything but `sample` is differentiable, also the samples of `rsample`.
"""

from minigrad.distributions.categorical import Bernoulli, Categorical
from minigrad.distributions.distribution import Distribution, kl_divergence
from minigrad.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from minigrad.distributions.multivariate_normal import MultivariateNormal
from minigrad.distributions.normal import Laplace, Normal

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "Distribution", "Exponential", "Gamma",
    "Laplace", "MultivariateNormal", "Normal", "kl_divergence",
]  # fmt: skip
