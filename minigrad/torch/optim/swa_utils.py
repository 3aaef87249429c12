"""`torch.optim.swa_utils`: averages of weights."""

from minigrad.optim import swa_utils as _ours
from minigrad.optim.swa_utils import *
from minigrad.torch.modules import missing as _missing
from minigrad.torch.nn.classes import _class_of

__getattr__ = _missing(__name__)
AveragedModel = _class_of(_ours.AveragedModel)  # type: ignore[assignment,misc]
