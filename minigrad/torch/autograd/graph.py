"""`torch.autograd.graph`: the graph of a tensor, and what it holds."""

from minigrad.autograd import saved_tensors_hooks as saved_tensors_hooks
from minigrad.torch.answers import block

save_on_cpu = block
