"""A layered layout of nested groups.

`skeleton` finds out what is above, beside and in line with what; `place` gives it positions.
"""

from minigrad.viz.layout.build import skeleton
from minigrad.viz.layout.model import Direction, Placement, Point, Rect, Scope, Skeleton
from minigrad.viz.layout.pack import place

__all__ = ["Direction", "Placement", "Point", "Rect", "Scope", "Skeleton", "place", "skeleton"]
