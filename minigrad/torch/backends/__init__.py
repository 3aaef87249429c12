"""`torch.backends`: switches of other devices."""

from minigrad.torch.backends import cudnn as cudnn
from minigrad.torch.backends import mps as mps
