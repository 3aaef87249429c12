"""Optimizer: groups of parameters with their options, and the state kept for each parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from minigrad._tensor import Tensor
from minigrad.autograd.mode import enable_grad
from minigrad.autograd.mutation import wrote

Params = Iterable[Tensor] | Iterable[dict[str, Any]]
State = dict[str, Any]


class Optimizer:
    """The base of all optimizers: a subclass says how one parameter is moved, in `_update`.

    Args:
        params: Tensors that require gradients, or dicts with "params" and options of their own.
        defaults: The options of groups that do not say otherwise.

    Attributes:
        param_groups: For each group a dict: "params", and its options, which may be changed.
        state: For each parameter what is kept between steps: arrays, and the count of steps.

    Raises:
        TypeError: `params` is no iterable of tensors or dicts.
        ValueError: There is no parameter, one occurs twice, cannot be trained, or an option is
            out of range.

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
    """The names of what is kept for a parameter."""
    _required: tuple[str, ...] = ()
    """Those of them that are kept from the first step on."""

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, State] = {}
        self._scratch: dict[tuple[int, np.dtype[Any]], np.ndarray] = {}
        if isinstance(params, (Tensor, Mapping)):
            raise TypeError(
                f"{self._name}: an iterable of tensors or of dicts expected, got a single "
                f"{type(params).__name__}; put it into a list"
            )
        given = list(params)
        if not given:
            raise ValueError(f"{self._name}: there is no parameter to train")
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)  # type: ignore[arg-type]

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Train further parameters, with options of their own.

        Args:
            param_group: "params", a tensor or several, and any of the optimizer's options.

        Raises:
            TypeError: It is no dict of that kind.
            ValueError: A parameter is there already, cannot be trained, or an option is unknown
                or out of range. Nothing is added then.

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
        params = [params] if isinstance(params, Tensor) else list(params)
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
        self.param_groups.append({"params": params, **options})

    def _check_param(self, i: int, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                f"{self._name}: parameter {i} must be a Tensor, got {type(param).__name__}"
            )
        if not param.is_leaf:
            raise ValueError(
                f"{self._name}: parameter {i} of shape {param.shape} is the result of an op; "
                f"only tensors that were made by themselves can be trained"
            )
        if param.dtype.kind != "f":
            raise ValueError(f"{self._name}: parameter {i} has dtype {param.dtype}, not a float")

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are out of range."""
        raise NotImplementedError

    def _check(self, name: str, value: Any, low: float, below: float = float("inf")) -> None:
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (number and low <= value < below):
            limits = f"at least {low}" + (f" and below {below}" if below != float("inf") else "")
            raise ValueError(f"{self._name}: {name} must be a number of {limits}, got {value!r}")

    @property
    def _name(self) -> str:
        return type(self).__name__

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters: each ``.grad`` becomes None."""
        for group in self.param_groups:
            for param in group["params"]:
                param.grad = None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient.

        Args:
            closure: Computes the loss anew, with gradients, before the step.

        Returns:
            What the closure returned, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    self._update(param.data, param.grad.data, self._state_of(param), group)
                    wrote(param.data)
        return loss

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        """Move one parameter in place.

        Args:
            data: Its values, to be overwritten.
            grad: Its gradient, of the same shape; not to be changed.
            state: What is kept for it, empty before its first step.
            group: The options of its group.
        """
        raise NotImplementedError

    def _state_of(self, param: Tensor) -> State:
        state = self.state.setdefault(param, {})
        for name, value in state.items():
            if isinstance(value, np.ndarray) and value.dtype != param.dtype:
                state[name] = value.astype(param.dtype)  # the model was converted meanwhile
        return state

    def _buffer(self, i: int, like: np.ndarray) -> np.ndarray:
        """A scratch array of the shape and dtype of another; number i is one memory for all."""
        memory = self._scratch.get((i, like.dtype))
        if memory is None or memory.size < like.size:
            memory = self._scratch[i, like.dtype] = np.empty(like.size, like.dtype)
        return memory[: like.size].reshape(like.shape)

    # State

    def state_dict(self) -> dict[str, Any]:
        """Everything that a later run needs to go on: state and options.

        Returns:
            "state": by the number of the parameter, copies of what is kept for it.
            "param_groups": the options of each group, "params" being the numbers.

        Example:
            >>> import minigrad
            >>> from minigrad import optim
            >>> x = minigrad.ones(2, requires_grad=True)
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
        """Go on from a saved state: all of it, or, if it does not fit, none.

        Args:
            state_dict: What `state_dict` returned, for an optimizer of the same class whose groups
                hold as many parameters, of the same shapes.

        Raises:
            ValueError: It does not fit; nothing was changed.
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
                    state[param] = self._fitting(number, param, saved[number])
        if unknown:
            raise ValueError(f"{self._name}: saved state of unknown parameters {sorted(unknown)}")
        self.state = state
        for own, group in zip(self.param_groups, groups, strict=True):
            own.update({name: value for name, value in group.items() if name != "params"})

    def _fitting(self, number: int, param: Tensor, saved: Mapping[str, Any]) -> State:
        """The saved state of one parameter as new arrays of its shape and dtype."""
        state: State = {}
        wrong = (saved.keys() - set(self._kept)) | (set(self._required) - saved.keys())
        if wrong:
            raise ValueError(
                f"{self._name}: the state of parameter {number} has {sorted(saved)}, "
                f"{sorted(self._required or self._kept)} expected"
            )
        for name, value in saved.items():
            if name == "step":
                state[name] = int(value)
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


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
