"""`torch.nn.utils.parametrizations`: norms of weights."""

from minigrad.torch.answers import refusing
from minigrad.torch.nn.utils import spectral_norm as spectral_norm
from minigrad.torch.nn.utils import weight_norm as weight_norm

orthogonal = refusing(
    "nn.utils.parametrizations.orthogonal", "nn.init.orthogonal_ makes an orthogonal matrix"
)
