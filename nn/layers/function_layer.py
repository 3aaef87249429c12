"""Layers without parameters: they store arguments, and call a function with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, dataclass_transform

from minigrad.nn.functional.loss import reduction_of
from minigrad.nn.module.argument_checks import checked_constructor
from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

L = TypeVar("L", bound="FunctionLayer")
Buffered = Any
"""The annotation of a field that is a buffer: a tensor or array, or None."""
Legacy = bool | None
"""The annotation of `size_average` and `reduce`, PyTorch's old words for `reduction`."""


class FunctionLayer(Module):
    """A layer whose fields are arguments of its function: see `layer_of`."""

    function: ClassVar[Callable[..., Tensor]]
    fields: ClassVar[tuple[str, ...]] = ()

    def _check(self) -> None:
        """Raise for fields out of range, as far as their annotations do not say it."""

    def _result(self, *inputs: Any, **options: Any) -> Tensor:
        """Call the function with inputs, the fields and other options."""
        own = self.__dict__
        return self.function(*inputs, **{name: own[name] for name in self.fields}, **options)

    def extra_repr(self) -> str:
        shown = [n for n in self.repr_fields if n != "inplace" or getattr(self, n)]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)


class UnaryLayer(FunctionLayer):
    """A layer with one input."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return self._result(input)


@dataclass_transform(eq_default=False)
def layer_of(function: Callable[..., Tensor]) -> Callable[[type[L]], type[L]]:
    """Give a class a constructor that takes and stores its annotated attributes.

    The layer calls `function` with them, under the same names. Those that are `Legacy` say what
    `reduction` is, and are not stored.
    """

    def decorate(cls: type[L]) -> type[L]:
        kinds = inspect.get_annotations(cls)
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter("self", kind)]
        for name, annotation in kinds.items():
            if annotation == "KW_ONLY":
                kind = inspect.Parameter.KEYWORD_ONLY
                continue
            default = vars(cls).get(name, inspect.Parameter.empty)
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        signature = inspect.Signature(parameters)
        old = [name for name, kind in kinds.items() if kind == "Legacy"]
        fields = tuple(each.name for each in parameters[1:] if each.name not in old)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            given = signature.bind(self, *args, **kwargs)
            given.apply_defaults()
            super(cls, self).__init__()
            for name in fields:
                store = self.register_buffer if kinds[name] == "Buffered" else self.__setattr__
                store(name, given.arguments[name])
            if old:
                size_average, reduce, reduction = map(given.arguments.get, (*old, "reduction"))
                number = "beta" if "beta" in fields else ""
                self.reduction = reduction_of(cls.__name__, size_average, reduce, reduction, number)
            self._check()

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = checked_constructor(__init__)  # type: ignore[method-assign]
        cls.function = staticmethod(function)
        cls.fields = fields
        if not cls.repr_fields:
            cls.repr_fields = fields
        return cls

    return decorate
