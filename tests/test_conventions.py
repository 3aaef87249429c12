"""House rules that neither ruff nor mypy knows: imports point one way, builtins stay builtins.

Each test reads every file of the library, or of the browser tests, and lists what breaks its rule,
as file:line.
"""

from __future__ import annotations

import ast
import builtins
import functools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Each part may import those before it, and itself. What is new finds its place here first.
LAYERS = [
    "support", "autograd", "tracing", "debugging", "ops", "random", "transforms", "tensors",
    "_tensor", "linalg", "special", "distributions", "optim", "data", "nn", "func", "io",
    "distributed", "pretrained", "onnx", "compiler", "checking", "viz", "interop", "einops",
    "torch", "torchvision", "lucid", "learn", "__init__", "__main__",
]  # fmt: skip


# Users find what is built on the engine here too, and on the layers; nothing below imports it from
# here.
FRONT_DOORS = {
    ROOT / "minigrad" / name
    for name in ("autograd/functional.py", "autograd/graph.py", "optim/swa_utils.py")
}


def part_of(path: Path) -> str:
    """Which part of the house a file belongs to: its package, or its own name."""
    if path in FRONT_DOORS:
        return "__init__"
    inside = path.relative_to(ROOT).with_suffix("").parts
    return inside[0] if inside[0] == "nn" else inside[1]


@functools.cache
def files() -> dict[Path, ast.Module]:
    """Every file of the library, with its syntax tree."""
    paths = sorted([*(ROOT / "minigrad").rglob("*.py"), *(ROOT / "nn").rglob("*.py")])
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def refuse(
    offenders: Iterable[tuple[Path, ast.AST, str]], remedy: str, known: Iterable[str] = ()
) -> None:
    """Fail with one line for each offender, and say what to do about them.

    Args:
        offenders: The files, where in them, and what is there.
        remedy: What to do about them.
        known: Files that may, but they must.
    """
    found = [(name_of(path), node, what) for path, node, what in offenders]
    lines = [f"{name}:{node.lineno}: {what}" for name, node, what in found if name not in known]
    assert not lines, "\n".join([remedy, *lines])
    needless = {*known} - {name for name, _, _ in found}
    assert not needless, f"nothing of the kind is there: remove from the files that may {needless}"


@functools.cache
def nodes() -> dict[Path, list[ast.AST]]:
    """Every node of each file of the library."""
    return {path: [*ast.walk(tree)] for path, tree in files().items()}


def every(kind: type[ast.AST]) -> Iterator[tuple[Path, Any]]:
    """Each node of a kind, in any file of the library."""
    return ((path, node) for path in nodes() for node in nodes()[path] if isinstance(node, kind))


SHOWN = """
def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
    from minigrad.viz.page.notebook import mimebundle
    return mimebundle(self)
""".strip()
"""What a notebook calls to show a value: the one place that may look at what draws, and only when
it is asked. Nothing is computed with it."""


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import statement, except those for type checkers only, and to show a value."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node
    for child in ast.iter_child_nodes(node):
        checking = isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")
        if not checking and not (
            isinstance(child, ast.FunctionDef)
            and child.name == "_repr_mimebundle_"
            and ast.unparse(child) == SHOWN
        ):
            yield from imports(child)


@functools.cache
def all_imports() -> list[tuple[Path, ast.Import | ast.ImportFrom]]:
    """Every import statement of the library."""
    return [(path, node) for path, tree in files().items() for node in imports(tree)]


def imported_parts(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The parts of minigrad that a statement imports."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.module == "minigrad":
        names = [f"minigrad.{alias.name}" for alias in node.names]
    else:
        names = [node.module or ""]
    for name in names:
        if name.startswith("minigrad."):
            yield name.split(".")[1]


def test_the_files_of_both_packages_are_read() -> None:
    assert {"minigrad/tensors/tensor.py", "nn/__init__.py"} <= {name_of(path) for path in files()}


def test_every_part_has_its_place_among_the_layers() -> None:
    parts = {part_of(path) for path in files()}
    assert parts <= {*LAYERS}, f"add to LAYERS in {__file__}, after what it imports"
    assert {*LAYERS} <= parts, f"no longer there: remove from LAYERS in {__file__}"


def test_imports_point_one_way() -> None:
    refuse(
        (
            (path, node, f"{part_of(path)} imports {target}")
            for path, node in all_imports()
            for target in imported_parts(node)
            if target not in LAYERS[: LAYERS.index(part_of(path)) + 1]
        ),
        "A part imports only what comes before it in LAYERS (tests/test_conventions.py): "
        "move what is shared to the lower part",
    )


ENGINE = """
import sys, types
sys.modules["minigrad"] = house = types.ModuleType("minigrad")
house.__path__ = [sys.argv[1]]
import minigrad.autograd
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("minigrad.")}))
"""


def test_the_engine_runs_without_what_stands_on_it() -> None:
    command = [sys.executable, "-c", ENGINE, str(ROOT / "minigrad")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["autograd", "support"]


def test_imports_are_absolute() -> None:
    """A relative import in nn/ would make a second copy of every class it reaches."""
    refuse(
        (
            (path, node, ast.unparse(node))
            for path, node in all_imports()
            if isinstance(node, ast.ImportFrom) and node.level
        ),
        "Write the whole name: from minigrad.ops import ...",
    )


def names_bound(tree: ast.Module) -> Iterator[str]:
    """What a file defines, assigns or imports at its top level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def test_an_op_is_not_called_by_a_builtins_name() -> None:
    """Where a file defines its own `sum`, a reader takes `sum(...)` for Python's."""
    refuse(
        (
            (path, node, f"{node.func.id}(...)")
            for path, tree in files().items()
            for own in [{name for name in names_bound(tree) if hasattr(builtins, name)}]
            if own
            for node in nodes()[path]
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in own
        ),
        "Write builtins.sum(...) for Python's, and x.sum(...) or np.sum(...) for the op",
    )


# A value of these names is a tensor or an array in this house, or None; `bias=True` is a flag.
ARRAYS = {
    "_base", "_data", "_grad", "attn_mask", "data", "grad", "gradient", "keep",
    "key_padding_mask", "mask", "query", "tensor", "weight", "weights",
}  # fmt: skip
ATTRIBUTES = {*ARRAYS, "bias", "bias_k", "bias_v"}


def truths(some: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Every expression whose truth is taken: by and, or, not, if and while."""
    for node in some:
        if isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield node.test
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand


def test_no_one_takes_the_truth_of_a_tensor() -> None:
    """``x._base or x`` asks whether a number is 0 where it means ``is None``."""
    refuse(
        (
            (path, node, ast.unparse(node))
            for path, some in nodes().items()
            for node in truths(some)
            if (isinstance(node, ast.Name) and node.id in ARRAYS)
            or (isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES)
        ),
        "Write `is None` or `is not None`",
    )


def is_name_of_an_op(node: ast.AST) -> bool:
    """Whether this is ``op.name``, ``node.plan.op.name`` and the like."""
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id == "op") or (
        isinstance(owner, ast.Attribute) and owner.attr == "op"
    )


def by_name(some: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Where an op's name is compared, or something is looked up by it or by a drawing's label."""
    for node in some:
        keys: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            keys = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            keys = [node.slice]
            if isinstance(node.value, ast.Name) and node.value.id == "registry":
                keys = [] if isinstance(node.slice, ast.Constant) else [node]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            keys = list(node.args) if node.func.attr in ("get", "setdefault", "pop") else []
            if keys and ast.unparse(node.func) == "registry.get":
                keys = [node]
        if any(key is node or is_name_of_an_op(key) for key in keys):
            yield node


# Where a name is all that there is: what a user wrote, what a file says, a table of the library.
NAMES_GIVEN = {
    "minigrad/autograd/primitives.py", "minigrad/viz/formula/__init__.py",
    "minigrad/viz/record/model.py",
    "minigrad/viz/explanation/report.py", "minigrad/viz/record/attention.py",
    "minigrad/viz/page/terms.py", "minigrad/onnx/exporter.py",
}  # fmt: skip


def test_an_op_is_looked_up_by_its_object() -> None:
    """Two ops may have one name: a program's own, or one that is defined anew."""
    refuse(
        ((path, node, "by a name") for path, some in nodes().items() for node in by_name(some)),
        "Compare the op itself (op is exp.op), or key the table by it",
        NAMES_GIVEN,
    )


def test_look_ups_by_name_are_found() -> None:
    for line in ('op.name == "exp"', 'node.plan.op.name in ("exp",)', "TABLE[step.call.op.name]",
                 "registry.get(node.label)", "tallies.setdefault(node.plan.op.name, [])",
                 "registry[op]"):  # fmt: skip
        assert [node.lineno for node in by_name(ast.walk(ast.parse(line)))] == [1], line
    for line in ("print(op.name)", "op is exp.op", 'registry["exp"]', 'self.name == "exp"'):
        assert not [*by_name(ast.walk(ast.parse(line)))], line


def writes(call: ast.Call) -> bool:
    """Whether a call writes a file, makes a folder, or puts one file in the place of another."""
    makers = {"write_text", "write_bytes", "mkdir", "makedirs"}
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
        return name in makers or (name in ("replace", "rename") and is_name(call.func.value, "os"))
    return is_name(call.func, "open") and any("w" in ast.unparse(mode) for mode in call.args[1:])


def is_name(node: ast.AST, name: str) -> bool:
    """Whether this is a variable of that name."""
    return isinstance(node, ast.Name) and node.id == name


# What writes to a file that `_files` has made, or to a temporary folder of its own.
WRITERS = {"minigrad/support/files.py", "minigrad/learn/running.py"}


def test_one_module_writes_files() -> None:
    """It alone looks whether a path leads to a pipe, a socket or a device."""
    refuse(
        ((path, node, ast.unparse(node)) for path, node in every(ast.Call) if writes(node)),
        "Call write, replacing or folder_for of minigrad/support/files.py",
        WRITERS,
    )


def test_no_error_is_a_mere_signal() -> None:
    """An error says what is wrong; one word alone is meant for code that catches it."""
    refuse(
        (
            (path, node, ast.unparse(node))
            for path, node in every(ast.Raise)
            if isinstance(node.exc, ast.Call)
            for message in node.exc.args[:1]
            if isinstance(message, ast.Constant) and isinstance(message.value, str)
            if len(message.value.split()) < 2
        ),
        "Say what came, what was expected, and the remedy",
    )


READS = {
    "all", "all_inner_texts", "all_text_contents", "bounding_box", "count", "evaluate",
    "evaluate_all", "get_attribute", "inner_html", "inner_text", "input_value", "is_checked",
    "is_disabled", "is_enabled", "is_hidden", "is_visible", "text_content", "title",
}  # fmt: skip
ACTIONS = {
    "click", "dblclick", "down", "emulate_media", "fill", "focus", "goto", "hover", "insert_text",
    "move", "press", "reload", "select_option", "set_content", "set_input_files", "type", "up",
    "wheel",
}  # fmt: skip
WAITS = ("expect", "until", "wait_for", "open_page")
"""How the names of what waits begin; expect_download waits at the end of its block."""

Functions = dict[str, ast.FunctionDef]


def happens(node: ast.AST, functions: Functions) -> Iterator[tuple[str, ast.AST]]:
    """What is done with a page, in order: "act", "wait" or "read", and where.

    A loop is gone through twice, a function of the same file where it is called.
    """
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        return
    inside = [node.test] if isinstance(node, ast.Assert) else [*ast.iter_child_nodes(node)]
    if isinstance(node, (ast.For, ast.While)):
        inside += node.body
    if isinstance(node, ast.Expr) and named(node.value) == "evaluate":
        yield "act", node  # a script whose value is not asked for
        return
    for child in inside:
        yield from happens(child, functions)
    name = named(node)
    if isinstance(node, ast.With):
        name = next((named(item.context_expr) for item in node.items), "")
    if name in functions:
        others = {each: functions[each] for each in functions if each != name}
        for statement in functions[name].body:
            yield from happens(statement, others)
    elif name.startswith(WAITS):
        yield "wait", node
    elif name in ACTIONS:
        yield "act", node
    elif name in READS and not (name == "count" and node.args):  # that of a text has some
        yield "read", node


def named(node: ast.AST) -> str:
    """The last word of what is called, if this is a call."""
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def read_too_early(tree: ast.Module) -> Iterator[ast.AST]:
    """Where a test reads a page with no wait between its last action, or its begin, and this."""
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    functions = {node.name: node for node in defined}
    for test in defined:
        waited = False
        for statement in test.body if test.name.startswith("test_") else ():
            for kind, node in happens(statement, functions):
                if kind == "read" and not waited:
                    yield node
                waited = kind == "wait" or (waited and kind == "read")


def test_a_browser_test_waits_before_it_reads() -> None:
    """A page that is read once may be read before it is there, on a busy machine only."""
    refuse(
        (
            (path, node, ast.unparse(node))
            for path in sorted((ROOT / "tests" / "browser").glob("test_*.py"))
            for node in dict.fromkeys(read_too_early(ast.parse(path.read_text(encoding="utf-8"))))
        ),
        "Wait for a state first: expect(locator).to_have_text(...), until(page, script, value)",
    )


def test_early_reads_are_found() -> None:
    helper = "def shown(page): return page.inner_text()\ndef test_it(page):\n "
    for body in ("page.click()\n assert page.count() == 1", "page.title()", "shown(page)",
                 "expect(page)\n for key in keys:\n  page.title()\n  page.press(key)",
                 "expect(page)\n page.evaluate('f()')\n page.title()"):  # fmt: skip
        assert [*read_too_early(ast.parse(helper + body))], body
    for body in ("page.click()\n expect(page)\n assert page.count() == 1",
                 "with page.expect_download():\n  page.click()\n page.title()"):  # fmt: skip
        assert not [*read_too_early(ast.parse(helper + body))], body
