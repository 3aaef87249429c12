"""`torch.optim`: minigrad's optimizers, whose names and arguments are PyTorch's."""

from minigrad.optim import ASGD as ASGD
from minigrad.optim import LBFGS as LBFGS
from minigrad.optim import SGD as SGD
from minigrad.optim import Adadelta as Adadelta
from minigrad.optim import Adagrad as Adagrad
from minigrad.optim import Adam as Adam
from minigrad.optim import Adamax as Adamax
from minigrad.optim import AdamW as AdamW
from minigrad.optim import Muon as Muon
from minigrad.optim import NAdam as NAdam
from minigrad.optim import Optimizer as Optimizer
from minigrad.optim import RAdam as RAdam
from minigrad.optim import RMSprop as RMSprop
from minigrad.optim import Rprop as Rprop
from minigrad.torch.optim import lr_scheduler as lr_scheduler
from minigrad.torch.optim import swa_utils as swa_utils
