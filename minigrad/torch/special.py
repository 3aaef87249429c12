"""`torch.special`: functions of one tensor under the names of SciPy."""

import minigrad
from minigrad.torch.build import adopting
from minigrad.torch.methods import FUNCTIONS as _FUNCTIONS

_SAME = (
    "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "log1p", "log_softmax", "logit",
    "logsumexp", "round", "sinc", "softmax", "xlogy",
)  # fmt: skip

globals().update({name: _FUNCTIONS[name] for name in _SAME if name in _FUNCTIONS})
expit = _FUNCTIONS["sigmoid"]
entr, xlog1py = adopting(minigrad.entr), adopting(minigrad.xlog1py)
multigammaln, polygamma = _FUNCTIONS["mvlgamma"], _FUNCTIONS["polygamma"]
gammaln, psi = _FUNCTIONS["lgamma"], _FUNCTIONS["digamma"]
