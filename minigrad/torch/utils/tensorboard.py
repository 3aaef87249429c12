"""`torch.utils.tensorboard`: tensorboardX's writer, if it is installed."""

__path__: list[str] = []  # for `writer`, which is below it

try:
    from tensorboardX import *
except ModuleNotFoundError as error:
    raise ImportError(
        "torch.utils.tensorboard is tensorboardX: pip install tensorboardX"
    ) from error
