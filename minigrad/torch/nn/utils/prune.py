"""`torch.nn.utils.prune`: minigrad's."""

from minigrad.nn.utils.prune import *
from minigrad.nn.utils.prune import _compute_nparams_toprune as _compute_nparams_toprune
from minigrad.nn.utils.prune import _validate_pruning_amount as _validate_pruning_amount
from minigrad.nn.utils.prune import _validate_pruning_amount_init as _validate_pruning_amount_init
