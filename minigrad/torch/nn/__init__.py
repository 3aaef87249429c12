"""`torch.nn`: minigrad's modules, and the six classes of attention with PyTorch's contract."""

# mypy believes the first of two stars, Python the last: so PyTorch's transformers stand twice.
from minigrad.torch.nn.transformers import *  # isort: skip
from minigrad.nn import *  # type: ignore[assignment]
from minigrad.nn.layers.convolution import _ConvNd as _ConvNd
from minigrad.nn.layers.convolution import _ConvTransposeNd as _ConvTransposeNd
from minigrad.nn.layers.dropout import _DropoutNd as _DropoutNd
from minigrad.nn.layers.loss import _Loss as _Loss
from minigrad.nn.layers.loss import _WeightedLoss as _WeightedLoss
from minigrad.nn.layers.normalization import _BatchNorm as _BatchNorm
from minigrad.nn.layers.normalization import _InstanceNorm as _InstanceNorm
from minigrad.nn.layers.normalization import _NormBase as _NormBase
from minigrad.nn.layers.pooling import _AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd
from minigrad.nn.layers.pooling import _AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd
from minigrad.nn.layers.pooling import _AvgPoolNd as _AvgPoolNd
from minigrad.nn.layers.pooling import _MaxPoolNd as _MaxPoolNd
from minigrad.nn.layers.recurrence import RNNBase as RNNBase
from minigrad.nn.layers.recurrence import RNNCellBase as RNNCellBase
from minigrad.nn.module.hooks import *
from minigrad.torch.nn import attention as attention
from minigrad.torch.nn import common_types as common_types
from minigrad.torch.nn.common_types import _size_1_t as _size_1_t
from minigrad.torch.nn.common_types import _size_2_t as _size_2_t
from minigrad.torch.nn.multihead import MultiheadAttention as MultiheadAttention
from minigrad.torch.nn.stand_ins import *
from minigrad.torch.nn.transformers import *
