"""`torch.utils`."""

from minigrad.torch.utils import _pytree as _pytree
from minigrad.torch.utils import checkpoint as checkpoint
from minigrad.torch.utils import data as data
from minigrad.torch.utils import deterministic as deterministic
from minigrad.torch.utils import dlpack as dlpack
from minigrad.torch.utils import hooks as hooks
