"""The graph that a user holds: data, which imports what draws it when it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.support.files import write
from minigrad.viz.record.fold import collapse
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.selection import Choice
from minigrad.viz.record.writing import counted

if TYPE_CHECKING:
    import graphviz

ENDINGS = ".svg, .html, .dot, .png, .pdf"

DRAWABLE = 400
"""A notebook does not wait for a picture of more boxes than this."""


@dataclass(frozen=True, repr=False)
class Graph(Diagram):
    """A compute graph to look at, as `minigrad.viz.graph` returns it.

    It always holds the whole graph. When drawing, `depth` is the number of levels of modules to
    open. None keeps to about 40 boxes: layers and steps of loops that repeat become one box, the
    first one of each kind is opened as an example, and then all the levels that still fit.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> mlp = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> viz.graph(mlp, ones(5, 3))
        Graph(3 ops, 4 parameters, 1 input, 1 output, 4 modules)
    """

    def collapse(self, depth: int | None = None, *, open: Choice = ()) -> Graph:
        """Close the modules deeper than `depth`, each to one box.

        Args:
            depth: How many levels of modules to open; None for about 40 boxes.
            open: Modules to open all the same: paths such as ``"layers.0"``, patterns such as
                ``"*.self_attn"``, classes, or names of classes and functions.

        Returns:
            The smaller graph; this one stays as it is.

        Raises:
            ValueError: `depth` is negative, or nothing is called as `open` says.

        Example:
            >>> from minigrad import nn, ones, viz
            >>> mlp = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
            >>> [box.label for box in viz.graph(mlp, ones(5, 3)).collapse(depth=1).nodes]
            ['input', '0', '1', '2', 'output']
        """
        return collapse(self, depth, open)

    def to_dot(self, depth: int | None = None, *, open: Choice = ()) -> str:
        """Write the graph in Graphviz's language, which needs no Graphviz program.

        For `depth` and `open` see `collapse`.

        Returns:
            The text.
        """
        from minigrad.viz.drawing.dot import digraph

        return digraph(collapse(self, depth, open)).source

    def to_graphviz(self, depth: int | None = None, *, open: Choice = ()) -> graphviz.Source:
        """Let Graphviz draw the graph, with the package ``graphviz``.

        For `depth` and `open` see `collapse`.

        Returns:
            A `graphviz.Source` of the text of `to_dot`. It shows itself in a notebook, and its
            ``render`` writes files. Both need the program ``dot`` of Graphviz.

        Example:
            >>> from minigrad import nn, ones, viz
            >>> drawing = viz.graph(nn.Linear(3, 2), ones(5, 3)).to_graphviz()
            >>> type(drawing).__name__, drawing.source.splitlines()[0]
            ('Source', 'digraph {')
        """
        import graphviz

        return graphviz.Source(self.to_dot(depth, open=open))

    def to_text(self, depth: int | None = None) -> str:
        """Write the graph for a terminal: a line for each op, in order, indented by module.

        The result of an op has a number, ``%3``; an input has its name and shape; constants
        are ``const0``, ``const1``, ... Marked are ops that were not recorded for a backward pass,
        and residuals: tensors added to a result computed from them. For `depth` see `collapse`.

        Returns:
            The text, which also shows itself at a prompt and in a notebook.

        Example:
            >>> from minigrad import nn, ones, viz
            >>> viz.graph(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), ones(5, 3)).to_text(2)
            input                                           → 5×3  · input
            Sequential  · 16 parameters
              0: Linear  · 16 parameters
                %0 = linear(x = input, weight 4×3, bias 4)  → 5×4
              1: ReLU
                %1 = relu(%0)                               → 5×4
            output = %1                                     → 5×4
        """
        from minigrad.viz.drawing.text import to_text

        return to_text(self, depth)

    def to_svg(self, depth: int | None = None, *, open: Choice = (), title: str = "") -> str:
        """Draw the graph as SVG, with text of 12 pixels or more, and a title above it.

        For `depth` and `open` see `collapse`.

        Returns:
            The text of the picture.
        """
        from minigrad.viz.drawing.svg import draw

        return draw(collapse(self, depth, open), title)

    def to_html(self, depth: int | None = None, *, title: str = "Compute graph") -> str:
        """Write a page on which to explore the graph, and step through its backward pass.

        At first, `depth` levels of modules are open: see `collapse`.

        Returns:
            The text of an HTML file that needs nothing else, and no network.
        """
        from minigrad.viz.page.html import write_page

        return write_page(self, depth, title)

    def save(
        self,
        path: str | PathLike[str],
        *,
        depth: int | None = None,
        open: Choice = (),
        title: str = "",
    ) -> Path:
        """Write the graph to a file.

        Args:
            path: The ending says what to write: ``.svg`` a picture, ``.html`` a page to explore,
                ``.dot`` Graphviz's language, ``.png`` or ``.pdf`` the same picture, converted by
                cairosvg (``pip install cairosvg``).
            depth: How many levels of modules to open; see `collapse`.
            open: Modules to open all the same; see `collapse`.
            title: The title above it.

        Returns:
            The path.

        Raises:
            ImportError: cairosvg is needed and not installed.
            RuntimeError: The library of cairosvg is not there.
            ValueError: The ending is not one of these; and what `collapse` raises.

        Example:
            >>> import tempfile, minigrad
            >>> from minigrad import viz
            >>> x = minigrad.ones(3, requires_grad=True)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     viz.graph(x * x).save(f"{folder}/square.svg").name
            'square.svg'
        """
        path = Path(path)
        match path.suffix:
            case ".html":
                content = self.to_html(depth, title=title or "Compute graph").encode()
            case ".dot":
                content = self.to_dot(depth, open=open).encode()
            case ".svg" | ".png" | ".pdf" as ending:
                from minigrad.viz.drawing.pictures import convert

                content = convert(self.to_svg(depth, open=open, title=title), ending)
            case _:
                raise ValueError(f"save: {path.name!r} should end in {ENDINGS}: what to write")
        write(path, content)
        return path

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The picture for a notebook, or a summary of a very large graph."""
        view = collapse(self)
        if len(view.nodes) > DRAWABLE:
            note = f"{len(view.nodes)} boxes are too many for a notebook; .save(path) draws them"
            return {"text/plain": f"{self!r}: {note}"}
        try:
            from minigrad.viz.drawing.svg import draw

            return {"image/svg+xml": draw(view), "text/plain": repr(self)}
        except ValueError as error:  # groups that no module makes
            return {"text/plain": f"{self!r}: {error}"}

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def __repr__(self) -> str:
        count = self.counts()
        kinds = [kind for kind in ("op", "parameter", "input", "output", "module") if count[kind]]
        return f"Graph({', '.join(counted(count[kind], kind) for kind in kinds)})"
