"""`torch.autograd`: gradients on request, custom functions, and switches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from typing import Any, ClassVar

import minigrad.autograd as ours
from minigrad import ops
from minigrad.autograd import enable_grad as enable_grad
from minigrad.autograd import no_grad as no_grad
from minigrad.autograd import set_grad_enabled as set_grad_enabled
from minigrad.autograd.call import with_history
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable as _Tensor
from minigrad.tensors.creation import zeros_like
from minigrad.torch.func import seen
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import Tensor, adopt

__getattr__ = _missing(__name__)


def inference_mode(mode: Any = True) -> Any:
    """As `no_grad`."""
    return no_grad()(mode) if callable(mode) else set_grad_enabled(not mode)


def detect_anomaly(check_nan: bool = True) -> Any:
    """Within the block, an op that makes NaN is an error, unless `check_nan` is False."""
    return ours.detect_anomaly() if check_nan else nullcontext()


def _checking(check: Any) -> Any:
    def compare(func: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
        given = {name: options[name] for name in ("rtol", "atol") if name in options}
        try:
            check(seen(func), _several(inputs), **given)
        except ours.GradientError:
            if options.get("raise_exception", True):
                raise
            return False
        return True

    return compare


gradcheck, gradgradcheck = _checking(ours.gradcheck), _checking(ours.gradgradcheck)


class set_detect_anomaly(ExitStack):
    """`detect_anomaly` from here on, or, in a ``with`` statement, within it."""

    running: ClassVar[ExitStack | None] = None

    def __init__(self, mode: bool = True, check_nan: bool = True) -> None:
        super().__init__()
        if set_detect_anomaly.running is not None:
            set_detect_anomaly.running.close()
        set_detect_anomaly.running = self if mode else None
        if mode and check_nan:
            self.enter_context(ours.detect_anomaly())


def _several(given: Any) -> tuple[Any, ...]:
    return (given,) if given is None or isinstance(given, _Tensor) else tuple(given)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False, *, only_inputs: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs: always a tuple, one for each input.

    Example:
        >>> from minigrad import torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x * x, x)
        (Tensor(6., dtype=float32),)
    """
    roots, targets = _several(outputs), _several(inputs)
    cotangents = None if grad_outputs is None else _several(grad_outputs)
    if is_grads_batched:
        rows = [
            grad(roots, targets, row, True, create_graph, allow_unused, False, materialize_grads)
            for row in zip(*cotangents or (), strict=True)
        ]
        columns = zip(*rows, strict=True)
        return tuple([None if c[0] is None else adopt(ops.stack(c)) for c in columns])
    unused = materialize_grads if allow_unused is None else allow_unused
    found: Any = ours.grad(roots, targets, cotangents, retain_graph, create_graph, unused)
    if materialize_grads:
        pairs = zip(found, targets, strict=True)
        found = tuple([zeros_like(x) if g is None else g for g, x in pairs])
    adopted: tuple[Any, ...] = adopt(tuple(found))
    return adopted


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of one or several tensors to the ``.grad`` of the leaves."""
    roots = _several(tensors)
    given: Sequence[Any] = (None,) * len(roots) if grad_tensors is None else _several(grad_tensors)
    if len(given) != len(roots):
        raise RuntimeError(f"backward: {len(roots)} tensors but {len(given)} grad_tensors")
    for i, (root, gradient) in enumerate(zip(roots, given, strict=True)):
        keep = bool(retain_graph) or i < len(roots) - 1
        ours.backward(root, gradient, keep, create_graph, inputs)


def Variable(data: Any, requires_grad: bool = False) -> Any:
    """A tensor; the old name."""
    tensor = data if isinstance(data, Tensor) else adopt(data)
    return tensor.requires_grad_() if requires_grad else tensor


class Function(ours.Function):
    """An op with a forward and a backward of one's own, as PyTorch's."""

    _run: ClassVar[Any] = None

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what `backward` needs; if it is defined, `forward` has no argument `ctx`."""

    @staticmethod
    def _shown(tensor: Any) -> Any:
        if tensor is None or isinstance(tensor, Tensor):
            return tensor
        return adopt(with_history(tensor._data, history(tensor)))

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the forward, and record it."""
        if cls.setup_context is Function.setup_context:
            return adopt(super().apply(*args))
        if "_run" not in vars(cls):

            def forward(ctx: Any, *given: Any) -> Any:
                output = cls.forward(*given)
                cls.setup_context(ctx, given, output)
                return output

            own = {
                "forward": staticmethod(forward), "setup_context": Function.setup_context,
                "__module__": cls.__module__,
            }  # fmt: skip
            cls._run = type(cls.__name__, (cls,), own)
        return cls._run.apply(*args)


class _Once(Function):
    """The result of a backward that may not be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: Any, *others: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("a backward that is marked once_differentiable is differentiated again")


def once_differentiable(fn: Any) -> Any:
    """A `backward` that may not be differentiated again: doing so is an error."""

    @functools.wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            found = fn(ctx, *grads)
        several = found if isinstance(found, tuple) else (found,)
        marked = [x if x is None else _Once.apply(x, *grads) for x in several]
        return tuple(marked) if isinstance(found, tuple) else marked[0]

    return backward
