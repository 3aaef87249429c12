"""Optimizer: parameter groups with their options, and a state for each parameter."""

import math
import weakref
from _thread import get_ident
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import NoneType
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.events import effect
from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.hooks import Removable, register
from minigrad.ops.argument_errors import Arguments
from minigrad.optim.blocks import Blocks, Part
from minigrad.optim.blocks import State as State
from minigrad.optim.options import Options
from minigrad.support.checks import check_flag, check_number
from minigrad.tensors.inplace import all_written
from minigrad.tensors.rows import SparseRows
from minigrad.tensors.tensor import Tensor

Params = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[dict[str, Any]]
Hook = Callable[..., Any]
_optimizers: weakref.WeakSet["Optimizer"] = weakref.WeakSet()
_MAY_LACK = {
    "maximize", "foreach", "capturable", "differentiable", "fused", "decoupled_weight_decay",
}  # fmt: skip
"""Options that a saved group need not have: older files do not; they stay as they are then."""


class Optimizer:
    """The base class of optimizers: a subclass defines `step`, which changes the parameters.

    Args:
        params: Tensors that require gradients; pairs of a name and a tensor; or dicts with "params"
            and options of their own.
        defaults: The default options of a group.

    Attributes:
        param_groups: A dict for each group: "params" and its options, which may be changed. If the
            parameters were given with names, "param_names" has these.
        state: A dict for each parameter, made when it is first read. What minigrad's optimizers
            keep in it are NumPy's arrays and numbers; `state_dict` has tensors.

    Source: PyTorch 2.13, "torch.optim.Optimizer".

    Example:
        >>> import minigrad
        >>> from minigrad.optim import Optimizer
        >>> class SignDescent(Optimizer):
        ...     @minigrad.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * minigrad.sign(p.grad)
        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> SignDescent([x], {"lr": 0.5}).step()
        >>> x.item()
        2.5
    """

    _required: tuple[str, ...] = ()
    """The entries in the state of a parameter from the first step on, where `step` is of here."""
    _optional: tuple[str, ...] = ()
    """Those that it may have."""
    _numbers: Mapping[str, type] = {"step": int}
    """Those that are not arrays."""
    _at_least_0: tuple[str, ...] = ()
    """The options that are numbers of at least 0."""
    _below_1: tuple[str, ...] = ()
    """The options that are numbers from 0 up to, but not including, 1."""
    _whole_only = False
    """Whether it cannot train parameters of which each rank has a part."""
    _waits = False
    """Whether a scheduler was made for it, and no step was taken since."""
    _decoupled = False
    """Whether the weight decay is decoupled, without an option."""
    _elementwise = False
    """Whether `_update` updates each element by itself; then it is called with blocks."""

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: defaultdict[Tensor, State] = defaultdict(dict)
        self._scratch: dict[tuple[int, np.dtype[Any], int], np.ndarray] = {}
        self._blocks = Blocks()
        self._hooks: defaultdict[str, dict[int, Hook]] = defaultdict(dict)
        given = self._listed(params)
        if not given:
            raise ValueError(f"{self._name}: no parameters; layers in a list go into nn.ModuleList")
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)
        _optimizers.add(self)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a dict of "params", a tensor or several, and options; if one is wrong, add nothing.

        Options that the optimizer does not know are kept in the group.

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
        names, params = self._named(params)
        known = {id(param) for group in self.param_groups for param in group["params"]}
        for i, param in enumerate(params):
            self._check_param(i, param)
            if id(param) in known:
                raise self._wrong(i, param, "occurs twice")
            known.add(id(param))
        options = {"params": None, **self.defaults, **param_group} | {"params": params}
        if names:
            options["param_names"] = names
        self._check_options(options)
        self.param_groups.append(Options(options))

    def _named(self, params: list[Any]) -> tuple[list[str], list[Any]]:
        """The names, if the parameters come with names, and the parameters."""
        pairs = [isinstance(param, tuple) and len(param) == 2 for param in params]
        if not any(pairs):
            return [], params
        if not all(pairs):
            raise ValueError(f"{self._name}: all parameters of a group have names, or none has")
        return [name for name, _ in params], [param for _, param in params]

    def _listed(self, params: Any) -> list[Any]:
        """Parameters or groups as a list; a model, a single tensor or a dict is an error."""
        if isinstance(params, (Tensor, Mapping)) or not isinstance(params, Iterable):
            came = f"got a single {type(params).__name__}; pass a list, or model.parameters()"
            raise TypeError(f"{self._name}: an iterable of tensors or of dicts expected, {came}")
        if isinstance(params, (set, frozenset)):  # its order changes from run to run
            raise TypeError(f"{self._name}: parameters in order expected, got a set: pass a list")
        return list(params)

    def _check_param(self, i: int, param: Any) -> None:
        if not isinstance(param, Tensor):
            came = type(param).__name__
            remedy = "; pass model.parameters()" if hasattr(param, "parameters") else ""
            raise TypeError(f"{self._name}: parameter {i} must be a Tensor, got {came}{remedy}")
        if not param.is_leaf:
            raise self._wrong(i, param, "is the result of an op; only leaf tensors can be trained")
        if param.dtype.kind != "f":
            raise self._wrong(i, param, f"has dtype {param._data.dtype}, not a float")
        if self._whole_only and getattr(param, "divided_among", None) is not None:
            raise self._wrong(i, param, "is divided among ranks: use AdamW, which is elementwise")

    def _wrong(self, i: int, param: Tensor, why: str) -> ValueError:
        """The error of a parameter that cannot be trained."""
        return ValueError(f"{self._name}: parameter {i} of shape {param._data.shape} {why}")

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are out of range."""
        if options.get("differentiable"):
            raise NotImplementedError(
                f"{self._name}: differentiable=True is not here, a step is not recorded; compute "
                f"the new parameters with ops, and use func.functional_call"
            )
        for name in _flags(type(self).__init__):
            if options.get(name).__class__ not in (bool, NoneType):  # each step checks them
                check_flag(self._name, name, options[name])
        for name in (*self._at_least_0, *self._below_1):
            below = 1.0 if name in self._below_1 else math.inf
            value = options[name].item() if isinstance(options[name], Tensor) else options[name]
            check_number(self._name, name, value, 0.0, below=below)
        if self._required and "betas" in options:  # a program's own class may have three
            self._check_several("betas", options["betas"], 2, 0.0, 1.0)

    def _check_several(
        self, name: str, numbers: Any, count: int, least: float, below: float = math.inf
    ) -> None:
        """Refuse what is not a tuple or a list of so many numbers within bounds."""
        if not isinstance(numbers, (tuple, list)) or len(numbers) != count:
            raise ValueError(f"{self._name}: {name} must be {count} numbers, got {numbers!r}")
        for number in numbers:
            check_number(self._name, f"each of {name}", number, least, below=below)

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
        if self._waits:
            self._waits = False
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
            rule = partial(self._improve, group=group)
            if self._elementwise:
                self._blocks.update(parts, rule)
            else:
                for part in parts:
                    rule(*part[:3])
            all_written(params)
        return loss

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        """Update one parameter, `data`, in place; `grad`, of the same shape, is not to be changed.

        `state` has at least the `_required` entries; its arrays must be overwritten, not replaced.
        If the class is `_elementwise`, this may be several small parameters as one flat array, or a
        part of a large one.
        """
        raise NotImplementedError

    def _improve(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        """`_update` with the gradient of what is minimized, and what decays the parameter."""
        if self._required:
            if not state:
                self._begin(data, state, group)
            if "step" in state:
                state["step"] += 1
        grad = -grad if group.get("maximize") else grad
        self._update(data, self._with_decay(data, grad, group), state, group)

    def _moves_only_rows(self, group: State) -> bool:  # noqa: ARG002  # subclasses read it
        """Whether a row without a gradient stays as it is, and its state too."""
        return False

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:  # noqa: ARG002
        """Fill the empty state of a parameter: with zeros, unless a class says otherwise."""
        for name in self._required:
            state[name] = self._numbers[name](0) if name in self._numbers else np.zeros_like(data)

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
        data, state, rows = param._data, self.state[param], grad.indices
        if not state:
            self._begin(data, state, group)
        values = data[rows]
        piece = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in state.items()}
        self._improve(values, grad.values, piece, group)
        data[rows] = values
        for name, value in piece.items():
            if isinstance(value, np.ndarray):
                state[name][rows] = value
            else:
                state[name] = value

    def _part(self, param: Tensor) -> Part:
        grad = param._grad
        assert grad is not None
        data, state = param._data, self.state[param]
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
            f"{self._name}: {name} has shape {array.shape}, its parameter {param._data.shape}; "
            f"after replacing a parameter's data, compute a new gradient and make a new optimizer"
        )

    def _with_decay(self, data: np.ndarray, grad: np.ndarray, group: State) -> np.ndarray:
        """The gradient plus that of the L2 penalty, g + weight_decay · θ.

        If the decay is decoupled, the parameter decays instead.
        """
        decay = float(group.get("weight_decay", 0.0))
        if not decay:
            return grad
        if self._decoupled or group.get("decoupled_weight_decay"):
            data *= 1.0 - float(group["lr"]) * decay
            return grad
        out = np.multiply(data, decay, out=self._buffer(0, data))
        return np.add(grad, out, out=out)

    def _buffer(self, i: int, like: np.ndarray) -> np.ndarray:
        """A scratch array like another; `_with_decay` uses number 0."""
        key = i, like.dtype, get_ident()
        memory = self._scratch.get(key)
        if memory is None or memory.size < like.size:
            memory = self._scratch[key] = np.empty(like.size, like.dtype)
        return memory[: like.size].reshape(like.shape)

    # Hooks

    def register_step_pre_hook(self, hook: Hook) -> Removable:
        """Register a hook ``hook(optimizer, args, kwargs)`` that runs before each step.

        The first of `args` is the optimizer too. If the hook does not return None, it returns other
        arguments of `step`: ``(args, kwargs)``.

        Example:
            >>> from minigrad import nn, optim
            >>> optimizer = optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
            >>> with optimizer.register_step_pre_hook(lambda *_: print("step")):
            ...     optimizer.step()
            step
        """
        return self._around_steps("before a step", hook)

    def register_step_post_hook(self, hook: Hook) -> Removable:
        """Register a hook ``hook(optimizer, args, kwargs)`` that runs after each step."""
        return self._around_steps("after a step", hook)

    def _around_steps(self, place: str, hook: Hook) -> Removable:
        vars(self)["step"] = partial(_step_with_hooks, self)  # in front of the class's
        return register(self._hooks[place], hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(optimizer)`` that runs before `state_dict`."""
        return register(self._hooks["before saving"], hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(optimizer, state_dict)`` that may change or replace the state."""
        return register(self._hooks["after saving"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(optimizer, state_dict)`` that may replace what is loaded."""
        return register(self._hooks["before loading"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(optimizer)`` that runs after `load_state_dict`."""
        return register(self._hooks["after loading"], hook, prepend)

    # State

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options, to resume training later.

        "state" has copies of the state of each parameter, by its number, as tensors, which PyTorch
        loads too; "param_groups" the options of each group, with "params" a list of numbers.

        Example:
            >>> from minigrad import ones, optim
            >>> x = ones(2, requires_grad=True)
            >>> optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
            >>> (x * x).sum().backward()
            >>> optimizer.step()
            >>> optimizer.state_dict()["state"]
            {0: {'momentum_buffer': tensor([2., 2.])}}
        """
        for hook in [*self._hooks["before saving"].values()]:
            hook(self)
        numbers: dict[Any, int] = {}  # a parameter that a program put into two groups has one
        groups: list[dict[str, Any]] = []
        for group in self.param_groups:
            own = [numbers.setdefault(param, len(numbers)) for param in group["params"]]
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append({**options, "params": own})
        state = {
            number: {k: self._saved(k, value) for k, value in self.state[param].items()}
            for param, number in numbers.items() if self.state.get(param)
        }  # fmt: skip
        more = {key: _copied(v) for key, v in self.state.items() if not isinstance(key, Tensor)}
        saved: dict[str, Any] = {"state": {**state, **more}, "param_groups": groups}
        for hook in [*self._hooks["after saving"].values()]:
            saved = _unless_none(hook(self, saved), saved)
        return saved

    def _saved(self, name: str, value: Any) -> Any:
        """An entry of the state as in a state dict; PyTorch's numbers are tensors there."""
        if name in self._required and name in self._numbers:
            value = np.asarray(value, np.float32 if self._numbers[name] is int else np.float64)
        return _copied(value)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load what `state_dict` returned, here or in PyTorch. If it does not fit, change nothing.

        The optimizer has the same class, and its groups as many parameters of the same shapes.
        """
        for hook in [*self._hooks["before loading"].values()]:
            state_dict = _unless_none(hook(self, state_dict), state_dict)
        if not isinstance(state_dict, Mapping) or {"state", "param_groups"} - state_dict.keys():
            raise ValueError(f"{self._name}: a state dict has the keys 'state' and 'param_groups'")
        groups, saved = list(state_dict["param_groups"]), state_dict["state"]
        sizes = [len(group["params"]) for group in self.param_groups]
        given = [len(group["params"]) for group in groups]
        if sizes != given:
            raise ValueError(f"{self._name}: saved groups hold {given} parameters, its own {sizes}")
        for group in groups:
            missing = self.defaults.keys() - group.keys() - _MAY_LACK
            if missing:
                raise ValueError(f"{self._name}: a saved group lacks {', '.join(sorted(missing))}")
            self._check_options(group)
        state: defaultdict[Any, State] = defaultdict(dict)
        unknown = {key for key in saved if str(key).lstrip("-").isdecimal()}  # until it is met
        own_entries = {key: _copied(v) for key, v in saved.items() if key not in unknown}
        for own, group in zip(self.param_groups, groups, strict=True):
            for param, number in zip(own["params"], group["params"], strict=True):
                unknown.discard(number)
                if number in saved:
                    state[param] = self._restored(number, param, saved[number])
        if unknown:
            raise ValueError(f"{self._name}: saved state of unknown parameters {sorted(unknown)}")
        self.state, self._blocks = state, Blocks()
        state.update(own_entries)
        for own, group in zip(self.param_groups, groups, strict=True):
            own.update({k: v for k, v in group.items() if k not in ("params", "param_names")})
        for hook in [*self._hooks["after loading"].values()]:
            hook(self)

    def _restored(self, number: int, param: Tensor, saved: Mapping[str, Any]) -> State:
        """The saved state of one parameter, copied to arrays of its shape and dtype.

        A class with a `step` of its own keeps what it likes: it gets a copy of what was saved.
        """
        if type(self).step is not Optimizer.step:
            return {name: _copied(value) for name, value in saved.items()}
        required, optional = set(self._required), set(self._optional)
        if not required <= saved.keys() <= required | optional:
            wanted = f"has {sorted(saved)}, {sorted(required or optional)} expected"
            raise ValueError(f"{self._name}: the state of parameter {number} {wanted}")
        state: State = {}
        for name, value in saved.items():
            if name in self._numbers:
                state[name] = self._numbers[name](value)
                continue
            array = np.asarray(value).astype(param.dtype)
            if array.shape != param.shape:
                shapes = f"{array.shape}, the parameter {param._data.shape}"
                raise ValueError(f"{self._name}: {name} of parameter {number} has shape {shapes}")
            state[name] = array
        return state

    def __repr__(self) -> str:
        groups = []
        for i, group in enumerate(self.param_groups):
            options = sorted((name, value) for name, value in group.items() if name != "params")
            lines = [f"    {name}: {value}\n" for name, value in options]
            groups.append(f"\nParameter Group {i}\n{''.join(lines)}")
        return f"{self._name} ({''.join(groups)})"


def _step_with_hooks(*args: Any, **kwargs: Any) -> Any:
    """A step of an optimizer, the first argument, that has hooks."""
    optimizer: Optimizer = args[0]
    for hook in [*optimizer._hooks["before a step"].values()]:
        replaced = hook(optimizer, args, kwargs)
        if replaced is None:
            continue
        if not isinstance(replaced, tuple) or len(replaced) != 2:
            wanted = "a hook before a step returns None or a pair (args, kwargs)"
            raise RuntimeError(f"{optimizer._name}: {wanted}, got {replaced!r}")
        args, kwargs = replaced
    result = type(optimizer).step(*args, **kwargs)
    for hook in [*optimizer._hooks["after a step"].values()]:
        hook(optimizer, args, kwargs)
    return result


def _unless_none(replaced: Any, value: Any) -> Any:
    return value if replaced is None else replaced


def optimizers_of(params: Iterable[Tensor]) -> list[Optimizer]:
    """The optimizers that update one of these parameters, in no particular order."""
    ids = {id(param) for param in params}
    return [
        optimizer for optimizer in _optimizers
        if any(id(param) in ids for group in optimizer.param_groups for param in group["params"])
    ]  # fmt: skip


def _copied(value: Any) -> Any:
    """A copy of an entry of the state, whose arrays are tensors."""
    if isinstance(value, list):
        return [_copied(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return wrap(value.copy())
    return value.detach().clone() if isinstance(value, Tensor) else value


def options_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options among the arguments of a constructor: all but the parameters."""
    others = ("self", "params", "__class__")
    return {name: value for name, value in arguments.items() if name not in others}


def average(mean: np.ndarray, new: np.ndarray, kept: float, work: np.ndarray) -> None:
    """Update a running mean in place: mean ← kept · mean + (1 - kept) · new."""
    mean *= kept
    mean += np.multiply(new, 1.0 - kept, out=work)


def average_square(mean: np.ndarray, new: np.ndarray, kept: float, work: np.ndarray) -> None:
    """Update a running mean of squares in place: mean ← kept · mean + (1 - kept) · new²."""
    mean *= kept
    np.multiply(new, new, out=work)
    work *= 1.0 - kept
    mean += work


@cache
def _flags(constructor: Callable[..., Any]) -> set[str]:
    """The options of an optimizer that are true or false."""
    return Arguments(constructor).flags
