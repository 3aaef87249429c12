"""`torch.version`: the version of PyTorch whose meaning this is."""

from minigrad.torch.torch_version import TorchVersion

__version__ = TorchVersion("2.13.0+cpu")
cuda = hip = None
debug, git_version = False, "minigrad"
