"""`torch.backends`: there is one, NumPy; what is switched on and off here changes nothing."""

from minigrad.torch.backends import cuda as cuda
from minigrad.torch.backends import cudnn as cudnn
from minigrad.torch.backends import mkl as mkl
from minigrad.torch.backends import mkldnn as mkldnn
from minigrad.torch.backends import mps as mps
from minigrad.torch.backends import openmp as openmp
