"""Sphinx's settings: pages in Markdown, reference from docstrings, mathematics as MathML."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

import minigrad
from minigrad.viz.formula.printers import ROOT

project = "minigrad"
author = "The minigrad developers"
copyright = "2026, The minigrad developers"
version = release = minigrad.__version__

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "tools")]

extensions = [
    "families", "live_pages",
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon",
]  # fmt: skip
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "extra_repr"}
default_role = "py:obj"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
napoleon_custom_sections = [("Example", "example_section"), ("Shape", "params_style")]
napoleon_use_rtype = False
napoleon_use_ivar = True

TABLES = ("changelog", "lucid_port")

html_theme = "furo"
html_title = f"minigrad {version}"
html_copy_source = False
html_static_path = ["_static", "../minigrad/viz/page/static/mathml.css"]
html_css_files = ["formula.css", "live_pages.css", "mathml.css"]
html_show_sphinx = False
html_math_renderer = "mathml"


def mathml(tex: str, display: str = "inline") -> str:
    """Write a formula as MathML, styled by mathml.css, which needs no mathematics font."""
    formula = convert(tex, display=display)
    formula = formula.replace("<msqrt>", ROOT).replace("</msqrt>", "</mrow>")
    return re.sub("<mi>(?=[^<&]{2})", '<mi mathvariant="normal">', formula)


def visit_inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(node.astext(), display="block")
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def leave_out_of_search(_: Sphinx, environment: BuildEnvironment) -> None:
    """Keep long tables of names out of the index: they would answer every question first."""
    for page in TABLES:
        environment.metadata[page]["nosearch"] = True


def setup(app: Sphinx) -> None:
    """Register the MathML visitors: browsers draw mathematics without script, font or network."""
    app.connect("env-updated", leave_out_of_search)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(visit_inline_math, None),
        block_renderers=(visit_block_math, None),
    )
