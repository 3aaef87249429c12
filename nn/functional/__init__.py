"""The layers without state, as functions of tensors; usually imported as F.

A file lists its public functions in its own `__all__`; this one imports every file.
"""

from typing import TYPE_CHECKING

from minigrad.nn.functional.activation import *
from minigrad.nn.functional.attention import *
from minigrad.nn.functional.convolution import *
from minigrad.nn.functional.ctc import *
from minigrad.nn.functional.embeddings import *
from minigrad.nn.functional.loss import *
from minigrad.nn.functional.masks import *
from minigrad.nn.functional.masks import MaskLike as MaskLike
from minigrad.nn.functional.metric_loss import *
from minigrad.nn.functional.normalization import *
from minigrad.nn.functional.pooling import *
from minigrad.nn.functional.positional import *
from minigrad.nn.functional.products import *
from minigrad.nn.functional.regularization import *
from minigrad.nn.functional.resampling import *
from minigrad.nn.functional.windows import *

if not TYPE_CHECKING:  # type checkers follow the imports above
    __all__ = sorted(name for name in globals() if callable(globals()[name]))
