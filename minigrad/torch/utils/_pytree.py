"""`torch.utils._pytree`: structures of containers as a list of leaves and a description."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

PyTree = Any


def _of_dict(tree: Any) -> tuple[list[Any], Any]:
    return [*tree.values()], [*tree]


NODES: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    list: (lambda x: (x, None), lambda parts, _: [*parts]),
    tuple: (lambda x: (x, None), lambda parts, _: (*parts,)),
    deque: (lambda x: (x, x.maxlen), deque),
    dict: (_of_dict, lambda parts, keys: dict(zip(keys, parts, strict=True))),
    OrderedDict: (_of_dict, lambda parts, keys: OrderedDict(zip(keys, parts, strict=True))),
    defaultdict: (
        lambda x: ([*x.values()], (x.default_factory, [*x])),
        lambda parts, known: defaultdict(known[0], zip(known[1], parts, strict=True)),
    ),
}
"""Containers: what gives the parts and the rest of one, and what makes it of them."""

_dict_flatten, _dict_unflatten = NODES[dict]


@dataclass(frozen=True)
class TreeSpec:
    """A structure without its leaves: the class of a container, what else it holds, its parts."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return 1 if self.type is None else sum(part.num_leaves for part in self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is one leaf."""
        return self.type is None


LeafSpec = TreeSpec(None, None, [])


def register_pytree_node(
    cls: Any, flatten_fn: Callable[[Any], Any], unflatten_fn: Callable[[Any, Any], Any],
    **options: Any,
) -> None:  # fmt: skip
    """Make a class a container, by what gives its parts and what makes it of them."""
    NODES[cls] = flatten_fn, unflatten_fn


_register_pytree_node = register_pytree_node


def tree_flatten(tree: Any, is_leaf: Any = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a structure, and its description."""
    kind, named = type(tree), isinstance(tree, tuple) and hasattr(tree, "_fields")
    if (kind not in NODES and not named) or (is_leaf is not None and is_leaf(tree)):
        return [tree], LeafSpec
    parts, context = (tree, None) if named else NODES[kind][0](tree)
    flat = [tree_flatten(part, is_leaf) for part in parts]
    return [leaf for leaves, _ in flat for leaf in leaves], TreeSpec(
        kind, context, [spec for _, spec in flat]
    )


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The structure that has these leaves."""
    given = [*leaves]
    if len(given) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: {treespec.num_leaves} leaves, got {len(given)}")
    return _filled(treespec, iter(given))


def _filled(spec: TreeSpec, leaves: Any) -> Any:
    if spec.type is None:
        return next(leaves)
    parts = [_filled(part, leaves) for part in spec.children_specs]
    return NODES[spec.type][1](parts, spec.context) if spec.type in NODES else spec.type(*parts)


def tree_leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The leaves of a structure."""
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: Any, is_leaf: Any = None) -> TreeSpec:
    """The description of a structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """A structure of what a function gives for the leaves of one or several of one form."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, leaves, *[tree_leaves(rest, is_leaf) for rest in rests]), spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Call a function with the leaves, and return the structure."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Any = None) -> Any:
    """`tree_map` for the leaves of a class; the others stay."""
    return tree_map(lambda x: func(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether all leaves are of a kind."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether one of the leaves is of a kind."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """`tree_all` of the leaves of a class."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """`tree_any` of the leaves of a class."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))
