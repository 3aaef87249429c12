"""minigrad's engine without its cases: a comment names the place of each in minigrad/autograd/."""

# mypy: ignore-errors
# ruff: noqa: D101
import inspect
import itertools
from heapq import heappop, heappush

import numpy as np

clock = itertools.count(1)  # an output is always younger than its inputs
recording = True  # of each thread: mode.State; `no_grad` changes it: grad_mode.no_grad


class Variable:  # a tensor. Dtypes: dtypes.to_array. Views and in-place writes: mutation.update
    def __init__(self, data, requires_grad=False, node=None):
        self._data, self.grad = np.array(data, np.float64), None
        self._node = Leaf(self) if requires_grad else node

    shape = property(lambda self: self._data.shape)
    __add__ = __radd__ = lambda self, other: add(self, other)
    __mul__ = __rmul__ = lambda self, other: multiply(self, other)
    __matmul__ = lambda self, other: matmul(self, other)
    T = property(lambda self: transpose(self))
    sum = lambda self: unbroadcast(self, ())


class Leaf:  # the end of a path. It holds its tensor weakly, so that there is no cycle: node.Leaf
    def __init__(self, tensor):
        self.tensor, self.shape, self.stamp = tensor, tensor.shape, next(clock)


class Node:  # a recorded call. Several outputs: node.Output. The module that calls: scope.Scope
    def __init__(self, op, edges, saved, out):
        self.op, self.edges, self.saved, self.shape = op, edges, saved, out.shape
        self.stamp = next(clock)


class Primitive:  # an op. One rule for several arguments: primitives.Primitive.defjoint
    def __init__(self, forward):
        self.forward, self.params, self.rules = forward, parameter_names(forward), {}


def parameter_names(function):
    return list(inspect.signature(function).parameters)


def primitive(forward):  # lists of tensors, keywords: call._any_signature
    op = Primitive(forward)

    def call(*args):  # a common dtype: dtypes.promote; errors: errors.explained
        values = [arg._data if isinstance(arg, Variable) else arg for arg in args]
        return record(op, args, values, Variable(forward(*values)))  # who watches: events.Observer

    call.op, call.defvjp = op, op.rules.update
    return call


def record(op, args, values, out):
    """Save what the rules read, and no more. Their names are read once for an op: plan.Plan."""
    given = dict(zip(op.params, args, strict=True))
    edges = {n: x._node for n, x in given.items() if isinstance(x, Variable) and x._node}
    if edges and recording:
        known = dict(zip(op.params, values, strict=True), out=out._data)
        known |= {f"{name}_shape": np.shape(known[name]) for name in op.params}
        needs = {need for name in edges for need in parameter_names(op.rules[name])[1:]}
        out._node = Node(op, edges, {need: known[need] for need in needs}, out)
    return out


def run_backward(output, create=False):
    """Pull from the youngest node to the oldest. Only towards some inputs: engine._between."""
    global recording
    pending, schedule, before = {}, [], recording
    accumulate(pending, schedule, output._node, Variable(np.ones(output.shape)))
    recording = create
    while schedule:  # hooks: engine._hand_out; was memory written since: mutation.check
        node = heappop(schedule)[1]
        g, origins = pending.pop(node), {**node.edges, "out": node}
        # On arrays unless `create`: engine.pull_recorded. Fused ops: engine._pull_decomposition.
        values = {name: Variable(x, node=origins.get(name)) if isinstance(x, np.ndarray) else x
                  for name, x in node.saved.items()}  # fmt: skip
        for name, edge in node.edges.items():
            rule = node.op.rules[name]
            part = rule(g, *[values[need] for need in parameter_names(rule)[1:]])
            accumulate(pending, schedule, edge, part)
    recording = before  # also if a rule raises; what was saved is freed: node.FREED
    return pending


def accumulate(pending, schedule, edge, part):
    part = part if part.shape == edge.shape else unbroadcast(part, edge.shape)
    if edge not in pending and isinstance(edge, Node):
        heappush(schedule, (-edge.stamp, edge))
    # In place where nobody can see it: mutation.uniquely_owned. Parts of x[i]: engine.Update.
    pending[edge] = pending[edge] + part if edge in pending else part


def backward(tensor):  # several outputs, of any shape: api._roots; gradients returned: api.grad
    for leaf, g in run_backward(tensor).items():
        leaf.tensor.grad = leaf.tensor.grad + g if leaf.tensor.grad else g


@primitive
def unbroadcast(x, shape):  # sums.unbroadcast
    axes = tuple(i for i in range(-x.ndim, 0) if i < -len(shape) or shape[i] != x.shape[i])
    return x.sum(axis=axes, keepdims=True).reshape(shape)


add, multiply = primitive(lambda a, b: a + b), primitive(lambda a, b: a * b)
matmul, transpose = primitive(lambda a, b: a @ b), primitive(lambda x: x.T)
exp, broadcast_to = primitive(lambda x: np.exp(x)), primitive(lambda x, shape: x + np.zeros(shape))
add.defvjp(a=lambda g: g, b=lambda g: g)
multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)
matmul.defvjp(a=lambda g, b: g @ b.T, b=lambda g, a: a.T @ g)
transpose.defvjp(x=lambda g: g.T)
exp.defvjp(x=lambda g, out: g * out)
unbroadcast.defvjp(x=lambda g, x_shape: broadcast_to(g, x_shape))
broadcast_to.defvjp(x=lambda g, x_shape: unbroadcast(g, x_shape))
