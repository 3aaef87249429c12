"""`torch.utils.tensorboard`: tensorboardX's writer, if it is installed."""

try:
    from tensorboardX import *
except ModuleNotFoundError as error:
    raise ImportError(
        "torch.utils.tensorboard is tensorboardX: pip install tensorboardX"
    ) from error
