"""`torch.nn.parameter`."""

from minigrad.torch.nn.classes import Buffer as Buffer
from minigrad.torch.nn.classes import Parameter as Parameter
