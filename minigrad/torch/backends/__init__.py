"""`torch.backends`: there is one, NumPy; what is switched on and off here changes nothing."""

from minigrad.torch.backends import cudnn as cudnn

cuda = mkl = mkldnn = mps = openmp = cudnn
