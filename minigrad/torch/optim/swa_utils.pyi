# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Callable, Sequence
from typing import Any, Literal

import minigrad.nn.module.base
import minigrad.optim.optimizer
import minigrad.optim.swa_utils
import minigrad.tensors.creation
from minigrad.optim.swa_utils import get_ema_avg_fn as get_ema_avg_fn
from minigrad.optim.swa_utils import update_bn as update_bn
from minigrad.torch.nn.classes import Module
from minigrad.torch.optim.lr_scheduler import LRScheduler
from minigrad.torch.tensor import Tensor

class AveragedModel(Module):
    def __init__(
        self,
        model: Any,
        device: str | minigrad.tensors.creation.Device | None = None,
        avg_fn: Any = None,
        multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None: ...
    def forward(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def update_parameters(self, model: minigrad.nn.module.base.Module) -> None: ...

class SWALR(minigrad.optim.swa_utils.SWALR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None: ...

def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]: ...
def get_swa_avg_fn() -> Any: ...
def get_swa_multi_avg_fn() -> Any: ...
