"""`torch._C`: of PyTorch's engine in C++, the error that programs catch, and what traces."""

from numpy.linalg import LinAlgError as _LinAlgError  # noqa: F401

from minigrad.torch.answers import nothing as _get_tracing_state  # noqa: F401
