"""A directive that documents the functions of a file: ``.. functions:: ops.logic``.

It documents the functions in the `__all__` of these modules that `minigrad` has too, so no page
lists functions by hand. Of a second name it says only what it is the same as.
"""

from __future__ import annotations

import importlib

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import minigrad


class Functions(SphinxDirective):
    """The functions of some modules, under the names that `minigrad` gives them."""

    required_arguments = 1
    optional_arguments = 9

    def run(self) -> list[nodes.Node]:
        """Write an ``autofunction`` for each."""
        modules = [importlib.import_module(f"minigrad.{name}") for name in self.arguments]
        every = [(module, name) for module in modules for name in module.__all__]
        found = [(name, getattr(module, name)) for module, name in every]
        listed = {id(getattr(minigrad, name)): name for name in dir(minigrad)}
        lines = [".. currentmodule:: minigrad", ""]
        for name, function in found:
            if not callable(function) or getattr(minigrad, name, None) is not function:
                continue
            first = listed.get(id(function), name)
            if first == name:
                lines.append(f".. autofunction:: {name}")
            else:  # a second name
                lines += [f".. py:function:: {name}", "   :no-index-entry:", ""]
                lines += [f"   The same as :func:`{first}`.", ""]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("functions", Functions)
    return {"parallel_read_safe": True}
