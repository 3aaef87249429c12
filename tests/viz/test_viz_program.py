"""The user's line between its neighbours, as it is in the file; nothing where it does not."""

from __future__ import annotations

import runpy
from pathlib import Path

from reading import data_of

import minigrad
from minigrad import viz
from minigrad.viz.explanation.explanations import source_lines

SOURCE = """\
from minigrad import ones, viz
x = ones(3, requires_grad=True)
with viz.trace() as traced:
    y = x * x
    # the largest
    z = y.max()
z.backward()
"""


def test_the_lines_keep_their_indentation(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    traced = runpy.run_path(str(file))["traced"]
    multiply, largest = (node.line for node in traced.graph().nodes if node.kind == "op")
    assert source_lines(multiply) == (
        "with viz.trace() as traced:",
        "    y = x * x",
        "    # the largest",
    )
    assert source_lines(largest) == ("    # the largest", "    z = y.max()", "z.backward()")
    assert "# the largest" in str(data_of(traced.graph().to_html()))


def test_a_file_that_has_changed_is_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    assert source_lines(f"{file}:4: y = x * x") is not None
    assert source_lines(f"{file}:4: y = x + x") is None
    assert source_lines(f"{file}:5: y = x * x") is None


def test_a_line_alone_says_no_more_than_itself(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("y = x * x\n")
    assert source_lines(f"{file}:1: y = x * x") is None
    assert source_lines("") is None
    assert source_lines("<stdin>:1") is None
    assert source_lines("gone.py:1: y") is None


def test_a_long_neighbour_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"a = '{'x' * 500}'\nb = a\n")
    lines = source_lines(f"{file}:2: b = a")
    assert len(lines[0]) < 200
    assert lines[1:] == ("b = a", "")


def test_what_a_neighbour_says_runs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE.replace("# the largest", "# </script><script>alert(1)</script>"))
    page = runpy.run_path(str(file))["traced"].graph().to_html()
    assert "<script>alert" not in page
    assert "alert(1)" in str(data_of(page))


def test_in_a_notebook_cells_are_quoted() -> None:
    import linecache

    name = "<ipython-input-1>"
    lines = ["x = 1\n", "y = t * t\n"]
    linecache.cache[name] = (0, None, lines, name)
    try:
        names = {"t": minigrad.ones(2)}
        with viz.trace() as traced:
            exec(compile("".join(lines), name, "exec"), names)
        (line,) = (node.line for node in traced.graph().nodes if node.kind == "op")
        assert source_lines(line) == ("x = 1", "y = t * t", "")
    finally:
        del linecache.cache[name]
