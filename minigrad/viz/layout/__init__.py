"""A layered layout of nested groups.

`skeleton` finds the order of boxes in ranks and lines; `place` gives them positions.
"""

from minigrad.viz.layout.build import skeleton
from minigrad.viz.layout.model import Placement, Point, Rect, Scope, Skeleton
from minigrad.viz.layout.pack import place

__all__ = ["Placement", "Point", "Rect", "Scope", "Skeleton", "place", "skeleton"]
