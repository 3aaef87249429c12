"""`torchvision.transforms.functional`: the functions of `torchvision.transforms`."""

from minigrad.torchvision.transforms import *  # noqa: F403
