"""`torch.optim`: minigrad's optimizers with PyTorch's order and options, and a base for others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad import optim as ours
from minigrad.autograd.call import wrap
from minigrad.tensors.tensor import Tensor as _Tensor
from minigrad.torch.modules import missing
from minigrad.torch.optim import lr_scheduler as lr_scheduler
from minigrad.torch.optim import swa_utils as swa_utils
from minigrad.torch.tensor import adopt

__getattr__ = missing(__name__)

LINES = """
ASGD(lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False) => lr, lambd, alpha, t0, weight_decay
Adadelta(lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False) => lr, rho, eps, weight_decay
Adagrad(lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None) => lr, lr_decay, weight_decay, initial_accumulator_value, eps
Adam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False) => lr, betas, eps, weight_decay, amsgrad; self._decoupled = decoupled_weight_decay
AdamW(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False, *, maximize=False, foreach=None, capturable=False, differentiable=False, fused=None) => lr, betas, eps, weight_decay, amsgrad
Adamax(lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, foreach=None, *, maximize=False, differentiable=False, capturable=False) => lr, betas, eps, weight_decay
LBFGS(lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=100, line_search_fn=None) => lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn
Muon(lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-07, ns_steps=5, adjust_lr_fn=None) => lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn
NAdam(lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False) => lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay
RAdam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False) => lr, betas, eps, weight_decay, decoupled_weight_decay
RMSprop(lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None, maximize=False, differentiable=False) => lr, alpha, eps, weight_decay, momentum, centered
Rprop(lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), *, capturable=False, foreach=None, maximize=False, differentiable=False) => lr, etas, step_sizes
SGD(lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, differentiable=False, fused=None) => lr, momentum, weight_decay, dampening=dampening, nesterov=nesterov
"""
"""PyTorch's constructors after `params`, the arguments of minigrad's, and after ``;`` the rest."""


class Optimizer(ours.Optimizer):
    """The base class of optimizers: a subclass defines `step`, which changes the parameters.

    Args:
        params: Tensors, named tensors, or dicts with "params" and options of their own.
        defaults: The default options of a group.

    Example:
        >>> from minigrad import torch
        >>> class SignDescent(torch.optim.Optimizer):
        ...     @torch.no_grad()
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 state = self.state[p]
        ...                 state["steps"] = state.get("steps", 0) + 1
        ...                 p.add_(p.grad.sign(), alpha=-group["lr"])
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> SignDescent([x], {"lr": 0.5}).step()
        >>> x.item()
        2.5
    """

    _more: Mapping[str, Any] = {}

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, _Tensor):
            raise TypeError("params: an iterable of tensors or dicts expected, got a Tensor")
        super().__init__(map(_unnamed, params), {**defaults, **self._more})
        self.state: defaultdict[Any, Any] = defaultdict(dict, self.state)

    def add_param_group(self, param_group: Any) -> None:
        """Add a dict of "params" and options, of which some may be of one's own."""
        if isinstance(param_group, Mapping) and "params" in param_group:
            known = {"params", *self.defaults}
            given, others = dict(param_group), param_group.keys() - known
            if not isinstance(given["params"], _Tensor):
                given["params"] = list(map(_unnamed, given["params"]))
            super().add_param_group({k: v for k, v in given.items() if k in known})
            self.param_groups[-1].update({name: param_group[name] for name in others})
        else:
            super().add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """The state, as tensors, and the options."""
        saved = super().state_dict()
        for state in saved["state"].values():
            for name, value in state.items():
                if name == "step" and type(self)._kept:
                    value = np.float32(value)
                state[name] = adopt(wrap(np.asarray(value))) if _is_array(value) else value
        return saved

    def load_state_dict(self, state_dict: Any) -> None:
        """Load what `state_dict` returned, here or in PyTorch."""
        super().load_state_dict(state_dict)
        self.state = defaultdict(dict, self.state)

    def _restored(self, number: int, param: Any, saved: Any) -> Any:
        if type(self)._kept:
            return super()._restored(number, param, saved)
        return {k: v.clone() if isinstance(v, _Tensor) else v for k, v in saved.items()}


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.floating))


def _unnamed(given: Any) -> Any:
    """A parameter or group; without its name, if it comes with one."""
    named = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str)
    return given[1] if named else given


def _made(line: str) -> type:
    call, _, given = line.partition(" => ")
    name, _, parameters = call.removesuffix(")").partition("(")
    given, _, then = given.partition(";")
    options = ("maximize", "foreach", "differentiable", "capturable", "fused")
    more = ", ".join(f"{option}={option}" for option in options if f"{option}=" in parameters)
    kind = getattr(ours, name)
    own: dict[str, Any] = {}
    body = f"self._more = checked({name!r}, {more}); {then or 'None'}; init(self, params, {given})"
    names = {"init": kind.__init__, "checked": _checked}
    exec(f"def __init__(self, params, {parameters}):\n    {body}", names, own)
    return type(name, (_Given, kind, Optimizer), {**own, "__doc__": kind.__doc__})


def _checked(name: str, **options: Any) -> dict[str, Any]:
    if options.get("differentiable"):
        raise NotImplementedError(f"torch.optim.{name}: differentiable=True is not here")
    return options


class _Given:
    """Options of PyTorch's that come before a rule of minigrad's."""

    def _update(self, data: Any, grad: Any, state: Any, group: Any) -> None:
        rule: Any = super()._update  # type: ignore[misc]
        rule(data, -grad if group.get("maximize") else grad, state, group)


for _line in LINES.strip().splitlines():
    _kind = _made(_line)
    _kind.__module__ = __name__
    globals()[_kind.__name__] = _kind
