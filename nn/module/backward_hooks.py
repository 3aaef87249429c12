"""Hooks on the gradients of a module's outputs and inputs.

An op that returns its tensors unchanged runs before and after `forward`. Its rule sees the
gradients of all outputs, or of all inputs, at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minigrad.autograd.call import call_path, wrap
from minigrad.autograd.primitives import Primitive
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.nn.module.registry import Registry

Gradients = tuple[Tensor | None, ...]
Hooks = list[Callable[..., Any]]


def _module_boundary(*tensors: Any, pull: Callable[..., Any]) -> Any:  # noqa: ARG001
    """Return the tensors unchanged; `pull` sees, and may replace, their gradients."""
    return tensors


_BOUNDARY = Primitive(_module_boundary, multiple_outputs=True, side_effects=True)
_through = call_path(_BOUNDARY)


@_BOUNDARY.defjoint("tensors")
def _pull(g: Sequence[Any], needed: Sequence[bool], pull: Callable[..., Any]) -> list[Any]:
    recorded = isinstance(g[0], Tensor)
    found = pull([part if recorded else wrap(part) for part in g])
    return [
        None if part is None or not need else part if recorded else part._data
        for part, need in zip(found, needed, strict=True)
    ]


class BackwardHooks:
    """The backward hooks of one call of a module, and its backward pre-hooks."""

    def __init__(self, module: Registry, pre_hooks: Hooks, hooks: Hooks) -> None:
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.grad_outputs: Gradients | None = None
        self.inputs: list[int] = []

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the positional arguments, watched."""
        self.count = len(args)
        entered, self.inputs = self._watched(args, self._at_inputs)
        return entered

    def leave(self, output: Any) -> Any:
        """Return the output, a tensor or a tuple, watched."""
        several = output if isinstance(output, tuple) else (output,)
        if not isinstance(output, (Tensor, tuple)):
            kind, came = type(self.module).__name__, type(output).__name__
            what = "backward hooks need as output a Tensor or a tuple of Tensors"
            warnings.warn(f"{kind}: {what}, got {came}", stacklevel=5)
        self.output_count = len(several)
        left, self.outputs = self._watched(several, self._at_outputs)
        if not isinstance(output, tuple):
            return left[0]
        fields = getattr(output, "_fields", None)  # of a named tuple
        return left if fields is None else type(output)(*left)

    @staticmethod
    def _watched(values: tuple[Any, ...], pull: Any) -> tuple[tuple[Any, ...], list[int]]:
        """The values, and the positions of those that have a gradient."""
        places = [
            i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad
        ]
        if not places:
            return values, places
        passed = dict(zip(places, _through(*(values[i] for i in places), pull=pull), strict=True))
        return tuple(passed.get(i, value) for i, value in enumerate(values)), places

    def _at_outputs(self, gradients: list[Tensor]) -> list[Any]:
        found = _placed(gradients, self.outputs, self.output_count)
        for hook in self.pre_hooks:
            found = self._replaced(found, hook(self.module, found), "grad_output")
        if self.inputs:
            self.grad_outputs = found
        else:
            for hook in self.hooks:
                returned = hook(self.module, (None,) * self.count, found)
                nothing = isinstance(returned, tuple) and all(part is None for part in returned)
                if returned is not None and not nothing:
                    what = "no input requires gradient, and yet a backward hook returned"
                    raise RuntimeError(f"{type(self.module).__name__}: {what} {returned}")
        return [found[i] for i in self.outputs]

    def _at_inputs(self, gradients: list[Tensor]) -> list[Any]:
        found = _placed(gradients, self.inputs, self.count)
        outputs, self.grad_outputs = self.grad_outputs, None
        if outputs is not None:  # None if this pass did not come by the outputs
            for hook in self.hooks:
                found = self._replaced(found, hook(self.module, found, outputs), "grad_input")
        return [found[i] for i in self.inputs]

    def _replaced(self, before: Gradients, returned: Any, name: str) -> Gradients:
        """The gradients after a hook: those it returned, checked, or the same for None."""
        if returned is None:
            return before
        after = returned if isinstance(returned, tuple) else (returned,)
        owner = type(self.module).__name__
        fits = len(after) == len(before) and all(
            new is None or (isinstance(new, Tensor) and (old is None or new.shape == old.shape))
            for old, new in zip(before, after, strict=True)
        )
        if not fits:
            wanted = [getattr(x, "shape", None) for x in before]
            came = [getattr(x, "shape", x) for x in after]
            what = f"got {len(after)}, but expected {len(before)} tensors of {wanted}, or None"
            raise RuntimeError(f"{owner}: a backward hook returned {name} of shapes {came}: {what}")
        return after


def _placed(gradients: list[Tensor], places: list[int], count: int) -> Gradients:
    """The gradients at their positions, None elsewhere."""
    found = dict(zip(places, gradients, strict=True))
    return tuple(found.get(i) for i in range(count))
