"""The mistakes that can be made at one node of a rule's syntax tree."""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Change", "Place", "changes", "name_of", "number_of"]

Change = tuple[str, ast.AST]
"""The kind of a mistake, and the replacement of a node."""

KINDS = {
    "sign": "a cotangent or a term has the opposite sign",
    "factor": "a cotangent counts twice; a constant is doubled, or one more or less",
    "dropped term": "a + b, a * b, a & b or `x += a` without one of the two",
    "swapped operands": "b - a for a - b, and so with /, @, <, np.where and np.cross",
    "missing transpose": "x for x.T, x.swapaxes(...) or mT(x)",
    "missing guard": "slope for zero_safe(slope, g), x for np.where(bad, 0, x)",
    "missing undo_reduction": "g for undo_reduction(g, ...), total(g, ...) or g.reshape(...)",
    "slice": "x for x[..., None] or x[::-1], and x[:n] for x[k:n]",
    "boundary": "< for <=, and == for !=",
    "axis": "an axis or an index is the next one, keepdims is turned round",
    "argument": "one array in the place of another: x for out",
    "branch": "a condition is always true, or never",
}
"""Every kind of mistake, and its effect."""

TRANSPOSES = {"T", "mT", "flip", "moveaxis", "roll", "rot90", "swapaxes", "transpose"}
GUARDS = {
    "abs", "absolute", "astype", "flat_at_zero", "sign", "tril", "triu", "wide", "zero_safe",
    "widened",
}  # fmt: skip
SPREADS = {"add_up", "broadcast_to", "mean", "reshape", "sum", "undo_reduction", "total"}
UNDONE = {
    **dict.fromkeys(TRANSPOSES, "missing transpose"),
    **dict.fromkeys(GUARDS, "missing guard"),
    **dict.fromkeys(SPREADS, "missing undo_reduction"),
}
"""Functions and methods whose call can be replaced by its argument or object."""

OF_TWO = {"cross", "divide", "floor_divide", "matmul", "subtract", "tensordot"}
BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ALIKE = {"g", "out"}
SHARED = {"dtype", "ndim", "shape", "size"}
"""The shape and dtype that a cotangent shares with its output."""
A_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")


@dataclass(frozen=True)
class Place:
    """The position of a node in its tree, and whether its value is returned."""

    owner: ast.AST
    field: str
    index: int | None
    returned: bool

    @property
    def node(self) -> Any:
        found = getattr(self.owner, self.field)
        return found if self.index is None else found[self.index]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


def number_of(node: ast.AST) -> int | float | None:
    """The number that a node is, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return None if number is None else -number
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None


def _spelled(number: int | float) -> ast.expr:
    constant = ast.Constant(abs(number))
    return ast.UnaryOp(ast.USub(), constant) if number < 0 else constant


def name_of(function: ast.AST) -> str:
    """The last part of the name of a function or method."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def changes(place: Place, arrays: frozenset[str]) -> Iterator[Change]:
    """The replacements of a node."""
    node, owner = place.node, place.owner
    if place.returned and _may_be_array(node):
        yield "sign", ast.UnaryOp(ast.USub(), node)
        yield "factor", ast.BinOp(ast.Constant(2), ast.Mult(), node)
    if isinstance(owner, ast.AugAssign):
        yield from _of_update(place, owner)
    number = number_of(node)
    if number is not None:
        if not (number == -1 and isinstance(owner, ast.Call) and name_of(owner.func) == "reshape"):
            yield from _of_number(number, _counts_axes(owner))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        if getattr(owner, "arg", None) not in ("copy", "strict"):
            yield "axis", ast.Constant(not node.value)
    elif isinstance(node, ast.Name):
        yield from _of_name(node, owner, arrays)
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif isinstance(node, ast.UnaryOp):
        yield "sign" if isinstance(node.op, ast.USub) else "branch", node.operand
    elif isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield "branch", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.Compare):
        yield from _of_comparison(node)
    elif isinstance(node, ast.IfExp):
        yield "branch", node.body
        yield "branch", node.orelse
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Attribute) and node.attr in TRANSPOSES:
        if not (isinstance(owner, ast.Call) and place.field == "func"):
            yield "missing transpose", node.value
    elif isinstance(node, ast.Subscript):
        yield from _of_subscript(node)
    elif isinstance(node, ast.Slice):
        yield from _of_slice(node)
    elif isinstance(node, ast.keyword) and node.arg == "axis":
        yield "axis", ast.keyword("axis", ast.Constant(None))
    if isinstance(owner, ast.If) and place.field == "test":
        yield "branch", ast.Constant(True)
        yield "branch", ast.Constant(False)
    if isinstance(owner, ast.Expr):
        yield "dropped term", ast.Constant(None)


def _may_be_array(node: ast.AST) -> bool:
    """Whether the sign of a returned node can be changed: not a string, None, tuple or update."""
    if isinstance(node, ast.Call):
        return not name_of(node.func).endswith("Update")
    return not isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set))


def _of_update(place: Place, owner: ast.AugAssign) -> Iterator[Change]:
    """``x += a`` with the other sign, or without adding."""
    if place.field == "op" and isinstance(owner.op, (ast.Add, ast.Sub)):
        yield "sign", ast.Sub() if isinstance(owner.op, ast.Add) else ast.Add()
    if place.field == "value":
        yield "dropped term", ast.Constant(0 if isinstance(owner.op, (ast.Add, ast.Sub)) else 1)


def _counts_axes(owner: ast.AST) -> bool:
    """Whether a number in this node is an axis or an index, not a quantity."""
    if isinstance(owner, ast.Call):
        return name_of(owner.func) in UNDONE.keys() | {"all", "any", "max", "min"}
    word = isinstance(owner, ast.keyword) and owner.arg == "axis"
    return word or isinstance(owner, (ast.Slice, ast.Subscript, ast.Tuple))


def _of_number(number: int | float, axis: bool) -> Iterator[Change]:
    for other in (number + 1, number - 1):
        yield "axis" if axis else "factor", _spelled(other)
    if not axis:
        yield "factor", _spelled(2 * number)


def _of_name(node: ast.Name, owner: ast.AST, arrays: frozenset[str]) -> Iterator[Change]:
    if not isinstance(node.ctx, ast.Load):
        return
    if node.id in arrays:
        alike = isinstance(owner, ast.Attribute) and owner.attr in SHARED and node.id in ALIKE
        for other in sorted(arrays - {node.id} - (ALIKE if alike else set())):
            yield "argument", ast.Name(other, ast.Load())
    if A_CONSTANT.fullmatch(node.id) and isinstance(owner, (ast.BinOp, ast.Call)):
        yield "factor", ast.BinOp(ast.Constant(2), ast.Mult(), node)


def _of_operation(node: ast.BinOp) -> Iterator[Change]:
    left, right = node.left, node.right
    yield "dropped term", left
    if not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)):
        yield "dropped term", right
    if isinstance(node.op, (ast.Add, ast.Sub)):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "sign", ast.BinOp(left, other, right)
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult)):
        yield "swapped operands", ast.BinOp(right, node.op, left)


def _of_comparison(node: ast.Compare) -> Iterator[Change]:
    for i, comparison in enumerate(node.ops):
        ops = [*node.ops[:i], BOUNDARY[type(comparison)](), *node.ops[i + 1 :]]
        yield "boundary", ast.Compare(node.left, ops, node.comparators)
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        yield "swapped operands", ast.Compare(node.comparators[0], node.ops, [node.left])


def _of_call(node: ast.Call) -> Iterator[Change]:
    name, args = name_of(node.func), node.args
    if name == "where" and len(args) == 3:
        yield "missing guard", args[1]
        yield "missing guard", args[2]
        swapped = [args[0], args[2], args[1]]
        yield "swapped operands", ast.Call(node.func, swapped, node.keywords)
    if name in OF_TWO and len(args) > 1:
        swapped = [args[1], args[0], *args[2:]]
        yield "swapped operands", ast.Call(node.func, swapped, node.keywords)
    if name in UNDONE:
        method = isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
        )
        if method:
            yield UNDONE[name], node.func.value  # type: ignore[attr-defined]
        elif args:
            yield UNDONE[name], args[0]


def _of_slice(node: ast.Slice) -> Iterator[Change]:
    for bound in ("lower", "upper", "step"):
        if getattr(node, bound) is not None:
            changed = copy.copy(node)
            setattr(changed, bound, None)
            yield "slice", changed


def _of_subscript(node: ast.Subscript) -> Iterator[Change]:
    """``x[..., None]`` without the index; an index that selects one element stays."""
    if not isinstance(node.ctx, ast.Load):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(
        isinstance(part, ast.Slice)
        or (isinstance(part, ast.Constant) and part.value in (None, ...))
        for part in parts
    ):
        yield "slice", node.value
