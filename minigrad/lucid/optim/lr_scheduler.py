"""`lucid.optim.lr_scheduler`: the schedulers of `lucid.optim`."""

from minigrad.lucid import optim as _optim
from minigrad.torch.optim import lr_scheduler as _under

globals().update(
    {_name: vars(_optim)[_name] for _name in vars(_under) if _name in vars(_optim) and _name[0] != "_"}
)
