"""A layered layout of nested groups: first what is above and beside what, then the numbers."""

from minigrad.viz.layout.place import Placement, place
from minigrad.viz.layout.ranks import Link
from minigrad.viz.layout.skeleton import Scope, Skeleton, skeleton

__all__ = ["Link", "Placement", "Scope", "Skeleton", "place", "skeleton"]
