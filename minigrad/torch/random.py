"""`torch.random`: the one generator, and generators of one's own."""

from minigrad.random import Generator as Generator
from minigrad.random import default_generator as default_generator
from minigrad.random import fork_rng as fork_rng
from minigrad.random import get_rng_state as get_rng_state
from minigrad.random import initial_seed as initial_seed
from minigrad.random import manual_seed as manual_seed
from minigrad.random import seed as seed
from minigrad.random import set_rng_state as set_rng_state
