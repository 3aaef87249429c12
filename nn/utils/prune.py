"""Pruning: entries of a parameter are set to 0 by a mask, and stay 0 while it is trained.

The parameter ``weight`` becomes ``weight_orig``, and the mask is the buffer ``weight_mask``. Before
each call of the module a hook computes ``weight``, their product.

Source: PyTorch 2.13, "torch.nn.utils.prune"; Frankle and Carbin, "The lottery ticket hypothesis",
2018.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from minigrad import ops, random
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn.module.base import Module
from minigrad.ops._numerics import values_of
from minigrad.tensors.creation import asarray, tensor
from minigrad.tensors.tensor import Tensor

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

M = TypeVar("M", bound=Module)


class BasePruningMethod(ABC):
    """The base class of ways to prune: a subclass defines `compute_mask`.

    Attributes:
        PRUNING_TYPE: What a second pruning of a parameter looks at: "unstructured" the entries that
            are left, "structured" the rows along an axis that are left, "global" everything.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import prune
        >>> class EveryOther(prune.BasePruningMethod):
        ...     PRUNING_TYPE = "unstructured"
        ...     def compute_mask(self, t, default_mask):
        ...         mask = default_mask.clone()
        ...         mask.view(-1)[::2] = 0
        ...         return mask
        >>> layer = nn.Linear(4, 1)
        >>> _ = EveryOther.apply(layer, "weight")
        >>> layer.weight_mask.tolist()
        [[0.0, 1.0, 0.0, 1.0]]
    """

    PRUNING_TYPE: ClassVar[Literal["unstructured", "structured", "global"]]
    _tensor_name: str

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the new mask, of the shape of `t` (the importance of entries) and of the old."""

    def __call__(self, module: Module, inputs: Any = None) -> None:  # noqa: ARG002
        """Compute the parameter, before a call of the module."""
        # Past `__setattr__`: it is computed anew in each call, which is no change of the module.
        module.__dict__[self._tensor_name] = self.apply_mask(module)

    def apply_mask(self, module: Module) -> Tensor:
        """Return the product of the parameter and its mask."""
        name = self._tensor_name
        original, mask = getattr(module, f"{name}_orig"), getattr(module, f"{name}_mask")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:  # fmt: skip
        """Prune a parameter of a module; the arguments that follow are those of the class.

        Args:
            module: The module.
            name: The name of the parameter. What is pruned already is pruned further.
            *args: The arguments of the constructor.
            importance_scores: Of the shape of the parameter, in whose place they are looked at.
            **kwargs: The arguments of the constructor.

        Returns:
            The method, a `PruningContainer` if there are several.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        found = _method_of(module, name)
        original = module.get_parameter(name if found is None else f"{name}_orig")
        scores = _scores(importance_scores, getattr(module, name))
        with no_grad():
            if found is None:
                mask = method.compute_mask(scores, original.new_ones(original.shape))
                delattr(module, name)
                module.register_parameter(f"{name}_orig", original)
            else:
                key, old = found
                mask = _combined(method, scores, getattr(module, f"{name}_mask"))
                container = old if isinstance(old, PruningContainer) else PruningContainer(old)
                container.add_pruning_method(method)
                method = container
                del module._forward_pre_hooks[key]
        module.register_buffer(f"{name}_mask", mask)
        method(module)
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Return a tensor whose entries are pruned; no module is needed.

        Example:
            >>> from minigrad import tensor
            >>> from minigrad.nn.utils import prune
            >>> prune.L1Unstructured(amount=1).prune(tensor([3.0, -1.0, 2.0])).tolist()
            [3.0, 0.0, 2.0]
        """
        before = t.new_ones(t.shape) if default_mask is None else default_mask
        return t * self.compute_mask(_scores(importance_scores, t), before)

    def remove(self, module: Module) -> None:
        """Make the parameter a plain one again, in which the pruned entries are 0."""
        name = self._tensor_name
        original = module.get_parameter(f"{name}_orig")
        with no_grad():
            original.data = self.apply_mask(module)
        for each in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, each)
        module.register_parameter(name, original)


def _scores(given: Tensor | None, t: Tensor) -> Tensor:
    """What is looked at: the scores, of the shape of the tensor, or the tensor itself."""
    if given is not None and given.shape != t.shape:
        came, wanted = tuple(given.shape), tuple(t.shape)
        raise AssertionError(f"prune: importance_scores has shape {came}, {wanted} expected")
    return t if given is None else given


def _method_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    """The hook that prunes a parameter, and its key."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


def _combined(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Tensor:
    """The mask after a further method, which looks at what the mask has left."""
    kept = values_of(mask) != 0
    kind: Any = method.PRUNING_TYPE
    axis = getattr(method, "dim", 0) % mask.ndim
    others = tuple(i for i in range(mask.ndim) if i != axis)
    parts: dict[str, Any] = {
        "unstructured": kept, "global": ...,
        "structured": (slice(None),) * axis + (kept.any(axis=others),),
    }  # fmt: skip
    if kind not in parts:
        raise ValueError(f"PRUNING_TYPE: one of {sorted(parts)} expected, got {kind!r}")
    left = parts[kind]
    new = mask.clone()
    new[left] = method.compute_mask(t[left].to(mask.dtype), mask[left])
    return new


class PruningContainer(BasePruningMethod):
    """Several methods that have pruned one parameter, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args:
            self._tensor_name = getattr(self, "_tensor_name", getattr(method, "_tensor_name", ""))
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Append a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"PruningContainer: a method expected, got {type(method).__name__}")
        if method._tensor_name != self._tensor_name:
            own, other = self._tensor_name, method._tensor_name
            raise ValueError(f"PruningContainer: it is of {own!r}, got a method of {other!r}")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask after the last method."""
        return _combined(self._pruning_methods[-1], t, default_mask)


class Identity(BasePruningMethod):
    """No pruning: the mask is 1."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:  # noqa: ARG002
        """Return the mask that was there."""
        return default_mask


class CustomFromMask(BasePruningMethod):
    """A mask that is given: entries where it is 0 are pruned."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:  # noqa: ARG002
        """Return the product of the mask that was there and the given one."""
        return default_mask * asarray(self.mask).to(default_mask.dtype)


class _Lowest(BasePruningMethod):
    """The parts of the lowest scores are pruned: entries, or rows along an axis.

    Args:
        amount: The number of parts, or their fraction.
    """

    PRUNING_TYPE: ClassVar[Literal["unstructured", "structured"]] = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _parts(self, array: np.ndarray) -> np.ndarray:
        """A view of the array whose first axis is that of the parts."""
        return array.reshape(-1)

    def _scores(self, parts: np.ndarray) -> np.ndarray:
        return random.generator().random(len(parts))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask that was there without the parts of the lowest scores."""
        parts, mask = self._parts(values_of(t)), values_of(default_mask).copy()
        _validate_pruning_amount(self.amount, len(parts))
        count = _compute_nparams_toprune(self.amount, len(parts))
        self._parts(mask)[np.argsort(self._scores(parts), kind="stable")[:count]] = 0
        return tensor(mask)


class RandomUnstructured(_Lowest):
    """Entries drawn at random are pruned; `amount` is their number or their fraction."""


class L1Unstructured(_Lowest):
    """The entries of the least magnitude are pruned; `amount` is their number or fraction."""

    def _scores(self, parts: np.ndarray) -> np.ndarray:
        return np.abs(parts)


class _Rows(_Lowest):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _parts(self, array: np.ndarray) -> np.ndarray:
        if array.ndim < 2:
            raise ValueError(f"{type(self).__name__}: two or more axes expected, got {array.shape}")
        return np.moveaxis(array, self.dim, 0)


class RandomStructured(_Rows):
    """Rows along an axis, drawn at random, are pruned.

    Args:
        amount: The number of rows, or their fraction.
        dim: The axis.
    """


class LnStructured(_Rows):
    """The rows along an axis that have the least norm are pruned.

    Args:
        amount: The number of rows, or their fraction.
        n: The p of the norm, as in `minigrad.linalg.vector_norm`.
        dim: The axis.
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = 2 if n == "fro" else n

    def _scores(self, parts: np.ndarray) -> np.ndarray:
        rows = parts.reshape(len(parts), math.prod(parts.shape[1:]))
        return np.linalg.norm(rows, self.n, axis=1)


def _validate_pruning_amount_init(amount: Any) -> None:
    """Refuse what is neither a number of entries nor a fraction."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float, np.integer, np.floating)):
        raise TypeError(f"prune: amount must be a number, got {type(amount).__name__}")
    if not (amount >= 0 and (isinstance(amount, (int, np.integer)) or amount <= 1)):
        raise ValueError(f"prune: amount is a fraction up to 1, or a whole number, got {amount}")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Refuse to prune more than there is."""
    if isinstance(amount, (int, np.integer)) and amount > tensor_size:
        raise ValueError(f"prune: amount is {amount}, there are {tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many of so many an amount is."""
    whole = isinstance(amount, (int, np.integer))
    return int(amount) if whole else round(amount * tensor_size)


def identity(module: M, name: str) -> M:
    """Give a parameter a mask of ones, as if it were pruned; return the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: float) -> M:
    """Prune entries of a parameter that are drawn at random; return the module.

    Args:
        module: The module, which is changed.
        name: The name of the parameter.
        amount: The number of entries, or their fraction.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.prune.random_unstructured(nn.Linear(4, 3), "weight", 0.25)
        >>> int((layer.weight == 0).sum())
        3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: M, name: str, amount: float, importance_scores: Tensor | None = None
) -> M:
    """Prune the entries of a parameter that have the least magnitude; return the module.

    Args:
        module: The module, which is changed.
        name: The name of the parameter.
        amount: The number of entries, or their fraction.
        importance_scores: Looked at in place of the parameter, of its shape.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 3), "weight", amount=5)
        >>> int((layer.weight == 0).sum()), sorted(layer.state_dict())
        (5, ['bias', 'weight_mask', 'weight_orig'])
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: float, dim: int) -> M:
    """Prune rows along an axis that are drawn at random; see `ln_structured`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M, name: str, amount: float, n: Any, dim: int,
    importance_scores: Tensor | None = None,
) -> M:  # fmt: skip
    """Prune the rows along an axis that have the least norm; return the module.

    Args:
        module: The module, which is changed.
        name: The name of the parameter.
        amount: The number of rows, or their fraction.
        n: The p of the norm.
        dim: The axis.
        importance_scores: Looked at in place of the parameter, of its shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> layer = nn.Linear(2, 2)
        >>> layer.weight.data = tensor([[0.1, 0.2], [3.0, 4.0]])
        >>> nn.utils.prune.ln_structured(layer, "weight", 1, n=2, dim=0).weight.tolist()
        [[0.0, 0.0], [3.0, 4.0]]
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune the entries of a parameter where a mask is 0; return the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
    importance_scores: Any = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Prune several parameters as if they were one vector.

    Args:
        parameters: Pairs of a module and the name of its parameter.
        pruning_method: A class of `PRUNING_TYPE` "unstructured", such as `L1Unstructured`.
        importance_scores: A dict from such pairs to what is looked at in place of a parameter.
        **kwargs: The arguments of the class, such as `amount`.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import prune
        >>> model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        >>> both = [(layer, "weight") for layer in model]
        >>> prune.global_unstructured(both, prune.L1Unstructured, amount=0.5)
        >>> sum(int((layer.weight == 0).sum()) for layer in model)
        9
    """
    given, owner = importance_scores or {}, "global_unstructured"
    if not isinstance(parameters, Iterable) or not isinstance(given, dict):
        raise TypeError(f"{owner}: pairs of a module and a name, and a dict of scores expected")
    pairs = list(parameters)
    scores = [given.get((module, name), getattr(module, name)) for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", score.new_ones(score.shape))
        for (module, name), score in zip(pairs, scores, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"{owner}: an unstructured method expected, got {pruning_method.__name__}")
    with no_grad():
        whole = _combined(method, *(ops.concatenate(each, axis=None) for each in (scores, masks)))
    parts = ops.split(whole, np.cumsum([mask.numel() for mask in masks])[:-1].tolist())
    for (module, name), mask, part in zip(pairs, masks, parts, strict=True):
        custom_from_mask(module, name, part.reshape(mask.shape))


def remove(module: M, name: str) -> M:
    """Make a pruned parameter a plain one, in which the pruned entries are 0; return the module.

    Raises:
        ValueError: It is not pruned.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import prune
        >>> layer = prune.remove(prune.l1_unstructured(nn.Linear(4, 3), "weight", 5), "weight")
        >>> sorted(layer.state_dict()), prune.is_pruned(layer)
        (['bias', 'weight'], False)
    """
    found = _method_of(module, name)
    if found is None:
        raise ValueError(f"remove: {name!r} of {type(module).__name__} is not pruned")
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    hooks = [hook for part in module.modules() for hook in part._forward_pre_hooks.values()]
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
