"""`lucid.nn.init`: minigrad's, where `a` comes before `mode` under all names."""
# mypy: disable-error-code="assignment"

from minigrad.nn.init import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from minigrad.nn import init as _init

kaiming_normal, kaiming_uniform = _init.kaiming_normal_, _init.kaiming_uniform_
