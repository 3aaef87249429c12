"""`torch._C`: of PyTorch's engine in C++, the error that programs catch."""

from numpy.linalg import LinAlgError as _LinAlgError  # noqa: F401
