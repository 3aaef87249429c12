# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Iterable
from typing import Any, Literal

import minigrad.optim.adagrad
import minigrad.optim.adam
import minigrad.optim.lbfgs
import minigrad.optim.muon
import minigrad.optim.optimizer
import minigrad.optim.rprop
import minigrad.optim.sgd
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.optim import adadelta as adadelta
from minigrad.torch.optim import adagrad as adagrad
from minigrad.torch.optim import adam as adam
from minigrad.torch.optim import adamax as adamax
from minigrad.torch.optim import adamw as adamw
from minigrad.torch.optim import asgd as asgd
from minigrad.torch.optim import lbfgs as lbfgs
from minigrad.torch.optim import lr_scheduler as lr_scheduler
from minigrad.torch.optim import nadam as nadam
from minigrad.torch.optim import optimizer as optimizer
from minigrad.torch.optim import radam as radam
from minigrad.torch.optim import rmsprop as rmsprop
from minigrad.torch.optim import rprop as rprop
from minigrad.torch.optim import sgd as sgd
from minigrad.torch.optim import swa_utils as swa_utils

LINES: str

class ASGD(minigrad.optim.sgd.ASGD, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        lambd: float = 0.0001,
        alpha: float = 0.75,
        t0: float = 1000000.0,
        weight_decay: float = 0,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

class Adadelta(minigrad.optim.adagrad.Adadelta, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-06,
        weight_decay: float = 0,
        foreach: Any = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

class Adagrad(minigrad.optim.adagrad.Adagrad, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: Any = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None: ...

class Adam(minigrad.optim.adam.Adam, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
        decoupled_weight_decay: bool = False,
    ) -> None: ...

class AdamW(minigrad.optim.adam.AdamW, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None: ...

class Adamax(minigrad.optim.adam.Adamax, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.002,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
        weight_decay: float = 0,
        foreach: Any = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

class LBFGS(minigrad.optim.lbfgs.LBFGS, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None: ...

class Muon(minigrad.optim.muon.Muon, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-07,
        ns_steps: int = 5,
        adjust_lr_fn: Literal["original", "match_rms_adamw"] | None = None,
    ) -> None: ...

class NAdam(minigrad.optim.adam.NAdam, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.002,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
        weight_decay: float = 0,
        momentum_decay: float = 0.004,
        decoupled_weight_decay: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

class Optimizer(minigrad.optim.optimizer.Optimizer):
    state: Any
    def __init__(self, params: Any, defaults: dict[str, Any]) -> None: ...
    def add_param_group(self, param_group: Any) -> None: ...
    def load_state_dict(self, state_dict: Any) -> None: ...
    def state_dict(self) -> dict[str, Any]: ...

class RAdam(minigrad.optim.adam.RAdam, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

class RMSprop(minigrad.optim.adagrad.RMSprop, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-08,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

class Rprop(minigrad.optim.rprop.Rprop, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-06, 50),
        *,
        capturable: bool = False,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

class SGD(minigrad.optim.sgd.SGD, _Given):
    def __init__(
        self,
        params: Iterable[_AnyTensor] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None: ...

class _Given: ...

def _checked(name: str, **options: Any) -> dict[str, Any]: ...
def _is_array(value: Any) -> bool: ...

_kind = SGD

def _made(line: str) -> type: ...
def _unnamed(given: Any) -> Any: ...
