"""The functions of random numbers that PyTorch has in `torch` too."""

from minigrad.random import *

__all__ = [
    "bernoulli", "get_rng_state", "initial_seed", "manual_seed", "multinomial", "normal", "poisson",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed",
    "set_rng_state",
]  # fmt: skip
