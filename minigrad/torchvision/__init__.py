"""`torchvision`, where it is not installed: transforms, data sets, and pictures of batches.

Source: the documentation of torchvision, for the names, the arguments and what they mean.
"""

import sys

from minigrad.torch.modules import complete
from minigrad.torchvision import datasets, transforms, utils

__all__ = ["datasets", "transforms", "utils"]
__version__ = "0.28.0+cpu"
datasets.__dict__.update(mnist=datasets, cifar=datasets, folder=datasets)
transforms.__dict__.update(transforms=transforms)
complete(sys.modules[__name__])  # it says why a name is not here
