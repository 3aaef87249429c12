"""The graph that a user holds: as DOT, as a picture in a file, in a notebook."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.viz.fold import collapse
from minigrad.viz.model import Diagram

if TYPE_CHECKING:
    import graphviz

__all__ = ["Graph"]

PICTURES = ("svg", "png", "pdf")

REMEDY = (
    "for a picture install Graphviz (apt install graphviz, brew install graphviz, "
    "or winget install Graphviz.Graphviz)"
)

DRAWABLE = 400
"""A notebook does not wait for a picture of more boxes than this."""


@dataclass(frozen=True, repr=False)
class Graph(Diagram):
    """A compute graph to look at, as `minigrad.viz.graph` returns it.

    It always holds the whole graph. How much of it a picture shows is said when drawing: `depth`
    is the number of levels of modules to open. None keeps to about 40 boxes: it opens the first
    module of each class, as an example of the others, and then all the levels that still fit.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> mlp = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> viz.graph(mlp, ones(5, 3))
        Graph(3 ops, 4 parameters, 1 input, 1 output, 4 modules)
    """

    def collapse(self, depth: int | None = None) -> Graph:
        """Close the modules deeper than `depth`, each to one box.

        Args:
            depth: How many levels of modules to open; None for about 40 boxes.

        Returns:
            The smaller graph; this one stays as it is.

        Raises:
            ValueError: `depth` is negative.

        Example:
            >>> from minigrad import nn, ones, viz
            >>> mlp = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
            >>> [box.label for box in viz.graph(mlp, ones(5, 3)).collapse(depth=1).nodes]
            ['input', '0', '1', '2', 'output']
        """
        return collapse(self, depth)

    def to_dot(self, depth: int | None = None) -> graphviz.Digraph:
        """Draw the graph in Graphviz's language; this needs no Graphviz program.

        Args:
            depth: How many levels of modules to open; None for about 40 boxes.

        Returns:
            A `graphviz.Digraph`, with the text as its ``.source``.

        Raises:
            ValueError: `depth` is negative.

        Example:
            >>> import minigrad
            >>> from minigrad import viz
            >>> x = minigrad.ones(3, requires_grad=True)
            >>> viz.graph(x * x).to_dot().source.splitlines()[0]
            'digraph {'
        """
        from minigrad.viz.dot import digraph

        return digraph(collapse(self, depth))

    def save(self, path: str | PathLike[str], *, depth: int | None = None) -> Path:
        """Write the graph as DOT text and, where Graphviz is installed, as a picture.

        Without Graphviz the text is written all the same, and one line says what to install.

        Args:
            path: Where to: a name ending in ``.svg``, ``.png`` or ``.pdf`` for a picture with the
                text beside it in ``.dot``, or one ending in ``.dot`` for the text alone.
            depth: How many levels of modules to open; None for about 40 boxes.

        Returns:
            The file to open: the picture if it could be drawn, the text if not.

        Raises:
            ValueError: The ending is none of these, or `depth` is negative.

        Example:
            >>> import tempfile, minigrad
            >>> from minigrad import viz
            >>> x = minigrad.ones(3, requires_grad=True)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     viz.graph(x * x).save(f"{folder}/square.dot").name
            'square.dot'
        """
        path = Path(path)
        ending = path.suffix.removeprefix(".")
        if ending not in (*PICTURES, "dot"):
            raise ValueError(
                f"save: {path.name!r} should end in .dot, .{', .'.join(PICTURES)}, "
                "which says what to write"
            )
        import graphviz

        dot = self.to_dot(depth)
        text = path.with_suffix(".dot")
        text.write_text(dot.source, encoding="utf-8")
        if ending == "dot":
            return path
        try:
            path.write_bytes(dot.pipe(format=ending))
        except graphviz.ExecutableNotFound:
            sys.stderr.write(f"{text} written; {REMEDY}\n")
            return text
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the picture, or else what the graph holds and how to see it."""
        import graphviz

        view = collapse(self)
        if len(view.nodes) > DRAWABLE:
            note = f"{len(view.nodes)} boxes are too many for a notebook; .save(path) draws them"
            return {"text/plain": f"{self!r}: {note}"}
        try:
            svg = self.to_dot().pipe(format="svg", encoding="utf-8")
        except graphviz.ExecutableNotFound:
            return {"text/plain": f"{self!r}: {REMEDY}"}
        except (subprocess.CalledProcessError, OSError) as error:
            return {"text/plain": f"{self!r}: dot failed: {error}"}
        return {"image/svg+xml": svg, "text/plain": repr(self)}

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def __repr__(self) -> str:
        count = Counter(node.kind for node in self.nodes) + Counter(module=len(self.groups))
        kinds = [kind for kind in ("op", "parameter", "input", "output", "module") if count[kind]]
        parts = [f"{count[kind]} {kind}{'s' * (count[kind] > 1)}" for kind in kinds]
        return f"Graph({', '.join(parts)})"
