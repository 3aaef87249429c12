"""Optimizer: parameter groups with their options, and a state for each parameter."""

import math
import weakref
from _thread import get_ident
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.events import effect
from minigrad.autograd.grad_mode import enable_grad
from minigrad.optim.blocks import Blocks, Part
from minigrad.optim.blocks import State as State
from minigrad.optim.options import Options
from minigrad.support.checks import check_number
from minigrad.tensors.inplace import all_written
from minigrad.tensors.rows import SparseRows
from minigrad.tensors.tensor import Tensor

Params = Iterable[Tensor] | Iterable[dict[str, Any]]
_optimizers: weakref.WeakSet["Optimizer"] = weakref.WeakSet()


class Optimizer:
    """The base class of optimizers: a subclass defines `_update`, the update of one parameter.

    Args:
        params: Tensors that require gradients, or dicts with "params" and options of their own.
        defaults: The default options of a group.

    Attributes:
        param_groups: A dict for each group: "params" and its options, which may be changed.
        state: The state of each parameter: NumPy's arrays, which are not tensors, and the number of
            steps.

    Example:
        >>> import minigrad
        >>> import numpy as np
        >>> from minigrad.optim import Optimizer
        >>> class SignDescent(Optimizer):
        ...     def _check_options(self, options):
        ...         self._check("lr", options["lr"], 0.0)
        ...     def _update(self, data, grad, state, group):
        ...         data -= group["lr"] * np.sign(grad)
        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> SignDescent([x], {"lr": 0.5}).step()
        >>> x.item()
        2.5
    """

    _kept: tuple[str, ...] = ()
    """The names of the entries in the state of a parameter."""
    _required: tuple[str, ...] = ()
    """Those that exist from the first step on."""
    _numbers: Mapping[str, type] = {"step": int}
    """Those that are not arrays."""
    _at_least_0: tuple[str, ...] = ()
    """The options that are numbers of at least 0."""
    _below_1: tuple[str, ...] = ()
    """The options that are numbers from 0 up to, but not including, 1."""
    _whole_only = False
    """Whether it cannot train parameters of which each rank has a part."""
    _elementwise = False
    """Whether `_update` is elementwise; then it is called with blocks."""

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, State] = {}
        self._scratch: dict[tuple[int, np.dtype[Any], int], np.ndarray] = {}
        self._blocks = Blocks()
        given = self._listed(params)
        if not given:
            raise ValueError(f"{self._name}: no parameters were given")
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)
        _optimizers.add(self)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a dict of "params", a tensor or several, and options; if one is wrong, add nothing.

        Example:
            >>> from minigrad import nn, optim
            >>> body, head = nn.Linear(4, 4), nn.Linear(4, 2)
            >>> optimizer = optim.SGD(body.parameters(), lr=0.1)
            >>> optimizer.add_param_group({"params": head.parameters(), "lr": 1.0})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 1.0]
        """
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            raise TypeError(f"{self._name}: a group is a dict with 'params', got {param_group!r}")
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else self._listed(params)
        known = {id(param) for group in self.param_groups for param in group["params"]}
        for i, param in enumerate(params):
            self._check_param(i, param)
            if id(param) in known:
                raise ValueError(f"{self._name}: parameter {i} of shape {param.shape} occurs twice")
            known.add(id(param))
        unknown = param_group.keys() - self.defaults.keys() - {"params"}
        if unknown:
            raise ValueError(
                f"{self._name}: unknown option {', '.join(sorted(unknown))}; "
                f"there are {', '.join(self.defaults)}"
            )
        options = {name: param_group.get(name, default) for name, default in self.defaults.items()}
        self._check_options(options)
        self.param_groups.append(Options({"params": params, **options}))

    def _listed(self, params: Any) -> list[Any]:
        """Parameters or groups as a list; a model, a single tensor or a dict is an error."""
        model = callable(getattr(params, "parameters", None))
        if not model and isinstance(params, Iterable) and not isinstance(params, (Tensor, Mapping)):
            return list(params)
        remedy = "pass its parameters()" if model else "put it into a list"
        if callable(params) and not model:
            remedy = "call it"
        raise TypeError(
            f"{self._name}: an iterable of tensors or of dicts expected, got a single "
            f"{type(params).__name__}; {remedy}"
        )

    def _check_param(self, i: int, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                f"{self._name}: parameter {i} must be a Tensor, got {type(param).__name__}"
            )
        if not param.is_leaf:
            raise ValueError(
                f"{self._name}: parameter {i} of shape {param.shape} is the result of an op; "
                f"only leaf tensors can be trained"
            )
        if param.dtype.kind != "f":
            raise ValueError(f"{self._name}: parameter {i} has dtype {param.dtype}, not a float")
        if self._whole_only and getattr(param, "divided_among", None) is not None:
            raise ValueError(
                f"{self._name}: parameter {i} of shape {param.shape} is divided among ranks, and a "
                f"step of {self._name} needs it whole; use an elementwise optimizer, such as AdamW"
            )

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are out of range."""
        for name in (*self._at_least_0, *self._below_1):
            self._check(name, options[name], 0.0, 1.0 if name in self._below_1 else math.inf)
        if "betas" in options:
            self._check_pair("betas", options["betas"], 1.0)

    def _check_pair(self, name: str, pair: Any, below: float = math.inf) -> None:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"{self._name}: {name} must be two numbers, got {pair!r}")
        for number in pair:
            self._check(f"each of {name}", number, 0.0, below)

    def _check(self, name: str, value: Any, low: float, below: float = math.inf) -> None:
        check_number(self._name, name, value, low, below=below)

    @property
    def _name(self) -> str:
        return type(self).__name__

    @effect
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the ``.grad`` of all parameters to None; with ``set_to_none=False`` to zeros.

        A parameter whose gradient is zero is updated; one without a gradient is not.
        """
        for group in self.param_groups:
            for param in group["params"]:
                param.zero_grad(set_to_none)

    @effect
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        A closure is called before the step to compute the loss and the gradients; its result is
        returned.

        Raises:
            ValueError: An option was set out of range since the last step. Nothing is updated then.
        """
        for group in self.param_groups:
            self._check_options(group)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            params = [param for param in group["params"] if param._grad is not None]
            sparse, parts = self._apart(params, group)
            for param in sparse:
                self._update_rows(param, group)
            rule = partial(self._update, group=group)
            if self._elementwise:
                self._blocks.update(parts, rule)
            else:
                for part in parts:
                    rule(*part[:3])
            all_written(params)
        return loss

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        """Update one parameter, `data`, in place; `grad`, of the same shape, is not to be changed.

        `state` is empty before the first step; its arrays must be overwritten, not replaced.
        If the class is `_elementwise`, this may be several small parameters as one flat array, or a
        part of a large one.
        """
        raise NotImplementedError

    def _moves_only_rows(self, group: State) -> bool:  # noqa: ARG002  # subclasses read it
        """Whether a row without a gradient stays as it is, and its state too."""
        return False

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:
        """Fill the empty state of a parameter, if `_moves_only_rows`."""

    def _apart(self, params: list[Tensor], group: State) -> tuple[list[Tensor], list[Part]]:
        """The parameters of which only rows are updated, and the parts of the others.

        What does not fit is refused here, before anything is updated.
        """
        sparse, parts, by_rows = [], [], self._moves_only_rows(group)
        for param in params:
            if not by_rows or not isinstance(param._grad, SparseRows):
                parts.append(self._part(param))
            elif param._grad.shape == param.shape:
                sparse.append(param)
            else:
                self._refuse("grad", param._grad._data, param)
        return sparse, parts

    def _update_rows(self, param: Tensor, group: State) -> None:
        """Update the rows that a sparse gradient has, and no others."""
        grad: Any = param._grad
        data, state, rows = param._data, self.state.setdefault(param, {}), grad.indices
        if not state:
            self._begin(data, state, group)
        values = data[rows]
        piece = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in state.items()}
        self._update(values, grad.values, piece, group)
        data[rows] = values
        for name, value in piece.items():
            if isinstance(value, np.ndarray):
                state[name][rows] = value
            else:
                state[name] = value

    def _part(self, param: Tensor) -> Part:
        grad = param._grad
        assert grad is not None
        data, state = param._data, self.state.setdefault(param, {})
        shape, dtype = data.shape, data.dtype
        if grad._data.shape != shape:
            self._refuse("grad", grad._data, param)
        numbers = []
        for name, value in state.items():
            if not isinstance(value, np.ndarray):
                numbers.append(value)
            elif value.shape != shape:
                self._refuse(name, value, param)
            elif value.dtype is not dtype:
                state[name] = value.astype(dtype, copy=False)  # if the model was converted
        return Part(data, grad._data, state, (dtype.char, *state, *numbers))

    def _refuse(self, name: str, array: np.ndarray, param: Tensor) -> None:
        raise ValueError(
            f"{self._name}: {name} has shape {array.shape}, its parameter {param.shape}; "
            f"after replacing a parameter's data, compute a new gradient and make a new optimizer"
        )

    def _with_penalty(self, data: np.ndarray, grad: np.ndarray, group: State) -> np.ndarray:
        """The gradient plus the gradient of the L2 penalty: g + weight_decay · θ."""
        decay = float(group["weight_decay"])
        if not decay:
            return grad
        out = np.multiply(data, decay, out=self._buffer(0, data))
        return np.add(grad, out, out=out)

    def _with_decay(
        self, data: np.ndarray, grad: np.ndarray, group: State, decoupled: bool
    ) -> np.ndarray:
        """The gradient with the L2 penalty; if `decoupled`, decays the parameter instead."""
        if not decoupled:
            return self._with_penalty(data, grad, group)
        data *= 1.0 - float(group["lr"]) * float(group["weight_decay"])
        return grad

    def _buffer(self, i: int, like: np.ndarray) -> np.ndarray:
        """A scratch array like another; `_with_penalty` uses number 0."""
        key = i, like.dtype, get_ident()
        memory = self._scratch.get(key)
        if memory is None or memory.size < like.size:
            memory = self._scratch[key] = np.empty(like.size, like.dtype)
        return memory[: like.size].reshape(like.shape)

    # State

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options, to resume training later.

        "state" has copies of the state of each parameter, by its number; "param_groups" the options
        of each group, with "params" a list of numbers.

        Example:
            >>> from minigrad import ones, optim
            >>> x = ones(2, requires_grad=True)
            >>> optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
            >>> (x * x).sum().backward()
            >>> optimizer.step()
            >>> optimizer.state_dict()["state"]
            {0: {'momentum_buffer': array([2., 2.], dtype=float32)}}
        """
        state, groups, n = {}, [], 0
        for group in self.param_groups:
            for i, param in enumerate(group["params"], n):
                if self.state.get(param):
                    state[i] = {name: _copied(value) for name, value in self.state[param].items()}
            numbers = list(range(n, n + len(group["params"])))
            groups.append({**group, "params": numbers})
            n += len(numbers)
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load what `state_dict` returned. If it does not fit, nothing is changed.

        The optimizer has the same class, and its groups as many parameters of the same shapes.
        """
        if not isinstance(state_dict, Mapping) or {"state", "param_groups"} - state_dict.keys():
            raise ValueError(f"{self._name}: a state dict has the keys 'state' and 'param_groups'")
        groups, saved = list(state_dict["param_groups"]), state_dict["state"]
        sizes = [len(group["params"]) for group in self.param_groups]
        given = [len(group["params"]) for group in groups]
        if sizes != given:
            raise ValueError(
                f"{self._name}: the saved groups hold {given} parameters, this optimizer's {sizes}"
            )
        for group in groups:
            missing = self.defaults.keys() - group.keys()
            if missing:
                raise ValueError(f"{self._name}: a saved group lacks {', '.join(sorted(missing))}")
            self._check_options(group)
        state: dict[Tensor, State] = {}
        unknown = set(saved)
        for own, group in zip(self.param_groups, groups, strict=True):
            for param, number in zip(own["params"], group["params"], strict=True):
                unknown.discard(number)
                if number in saved:
                    state[param] = self._restored(number, param, saved[number])
        if unknown:
            raise ValueError(f"{self._name}: saved state of unknown parameters {sorted(unknown)}")
        self.state, self._blocks = state, Blocks()
        for own, group in zip(self.param_groups, groups, strict=True):
            own.update({name: value for name, value in group.items() if name != "params"})

    def _restored(self, number: int, param: Tensor, saved: Mapping[str, Any]) -> State:
        """The saved state of one parameter, copied to arrays of its shape and dtype."""
        kept, required = set(self._kept), set(self._required)
        if (saved.keys() - kept) | (required - saved.keys()):
            raise ValueError(
                f"{self._name}: the state of parameter {number} has {sorted(saved)}, "
                f"{sorted(required or kept)} expected"
            )
        state: State = {}
        for name, value in saved.items():
            if name in self._numbers:
                state[name] = self._numbers[name](value)
                continue
            array = np.asarray(value).astype(param.dtype)
            if array.shape != param.shape:
                raise ValueError(
                    f"{self._name}: {name} of parameter {number} has shape {array.shape}, "
                    f"the parameter {param.shape}"
                )
            state[name] = array
        return state

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            options = ", ".join(f"{k}={value}" for k, value in group.items() if k != "params")
            lines.append(f"  ({i}): {len(group['params'])} parameters, {options}")
        return f"{self._name}(\n" + "\n".join(lines) + "\n)"


def optimizers_of(params: Iterable[Tensor]) -> list[Optimizer]:
    """The optimizers that update one of these parameters, in no particular order."""
    ids = {id(param) for param in params}
    return [
        optimizer for optimizer in _optimizers
        if any(id(param) in ids for group in optimizer.param_groups for param in group["params"])
    ]  # fmt: skip


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(entry) for entry in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def options_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options among the arguments of a constructor: all but the parameters."""
    others = ("self", "params", "__class__")
    return {name: value for name, value in arguments.items() if name not in others}
