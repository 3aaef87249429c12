# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from minigrad.torch.backends import cuda as cuda
from minigrad.torch.backends import cudnn as cudnn
from minigrad.torch.backends import mkl as mkl
from minigrad.torch.backends import mkldnn as mkldnn
from minigrad.torch.backends import mps as mps
from minigrad.torch.backends import openmp as openmp
