"""Type checkers see in a user's program what it computes: tests/typing/user.py, and every page.

What a page shows runs (test_documentation.py), so there a value that may be None is not one. Page
code has no type hints, and the blocks of a page use a name for several things.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import blocks_of, examples_of

ROOT = Path(__file__).resolve().parent.parent
WRONG_NAMES = ("wher", "dtyp", "fullgraph", "primitive")
DOOR = ROOT / "tests" / "pytorch_door"
DOOR_MISTAKES = DOOR / "typed_mistakes.py"


MYPYS = pytest.param(["mypy"], id="mypy", marks=pytest.mark.needs("mypy"))
PYRIGHTS = pytest.param(
    ["basedpyright", "--level", "error", "--pythonpath", sys.executable], id="basedpyright",
    marks=[pytest.mark.needs("basedpyright"), pytest.mark.long],  # .ci/run installs it
)  # fmt: skip


@pytest.fixture(scope="module", params=[MYPYS, PYRIGHTS])
def errors(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a type checker says of programs with minigrad and with PyTorch's door, in one run."""
    page = tmp_path_factory.mktemp("page") / "page.py"
    blocks = blocks_of((ROOT / "docs" / "torch.md").read_text(encoding="utf-8"))
    sources = lambda block: "".join(example.source for example in examples_of(block))
    code = [sources(b) if b.language == "pycon" else b.code for b in blocks]
    page.write_text("\n".join(code), encoding="utf-8")
    own = [ROOT / "tests" / "typing" / name for name in ("user.py", "wrong.py")]
    files = [*own, DOOR / "typed_training.py", page, DOOR_MISTAKES]
    done = subprocess.run(
        [sys.executable, "-m", *request.param, *map(str, files)], cwd=ROOT,
        capture_output=True, text=True, check=False, env={**os.environ, "MYPYPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines() if re.search(r"\berror:", line)]


@pytest.mark.slow
def test_names_that_minigrad_does_not_have_are_found(errors: list[str]) -> None:
    """In the order of WRONG_NAMES."""
    found = [error for error in errors if "wrong.py" in error]
    assert len(found) == len(WRONG_NAMES), found
    for name, error in zip(WRONG_NAMES, found, strict=True):
        assert f'"{name}"' in error, error


@pytest.mark.slow
def test_programs_have_the_types_that_they_say(errors: list[str]) -> None:
    """A user's, and through the door a training script and the page."""
    wrong = ("wrong.py", DOOR_MISTAKES.name)
    assert [error for error in errors if not any(name in error for name in wrong)] == []


@pytest.mark.slow
def test_mistakes_with_the_door_are_found(errors: list[str]) -> None:
    lines = DOOR_MISTAKES.read_text(encoding="utf-8").splitlines()
    wrong = {*range(lines.index("x = torch.ones(2, 3)") + 2, len(lines) + 1)}
    found = [re.search(r"typed_mistakes\.py:(\d+)", error) for error in errors]
    assert {int(place[1]) for place in found if place} == wrong


PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*.md")),
]
PYRIGHT = {
    "typeCheckingMode": "standard",
    **dict.fromkeys(
        (
            "reportOptionalCall", "reportOptionalIterable", "reportOptionalMemberAccess",
            "reportOptionalOperand", "reportOptionalSubscript", "reportPossiblyUnboundVariable",
            "reportRedeclaration", "reportUnusedExpression",
        ),
        False,
    ),
}  # fmt: skip
MYPY = """
[mypy]
strict = true
allow_redefinition = true
disallow_any_generics = false
disallow_incomplete_defs = false
disallow_subclassing_any = false
disallow_untyped_calls = false
disallow_untyped_defs = false
strict_optional = false
warn_return_any = false
disable_error_code = import-untyped, no-redef, var-annotated
"""
KNOWN = re.compile(
    r'Literal\[0\]|Item "int" of'  # typeshed: Python's sum of nothing is 0
    r'|"object"|dict\[str, object\]'  # all that mypy finds common to a model and an optimizer
    r"|floating\["  # NumPy's stubs: its functions return what they return for arrays
    r'|[Mm]odule "(einx|..arrayapi)"'  # einx does not declare what it exports
    r'|"Tensor \| None"|[Ff]or class "None"|"None" is not iterable'  # a gradient that is there
    r'|overloads for "__call__"'  # np.abs of a gradient, which Pyright reports twice
    r'|"(Leaf|Output)"'  # `_node`, which the guide opens
    r'|"linear1"'  # what a stack holds are modules
    r"|minigrad\.lucid\."  # Lucid 3's door has no stubs, Lucid 2's names of dtypes no types
    r'|"(Float32|long)"'
    r'|"(axis|keepdims)"|missing for parameter "dim"'  # NumPy's keywords, which `checked` takes
    r'|to "mse_loss"'  # Lucid's third argument is the reduction
)
"""What checkers say of code that runs: none of it is about a name that minigrad should export."""


def programs_of(page: Path) -> list[str]:
    """The programs of a page: one, but each recipe is a program of its own."""
    if page.name == "recipes.md":
        return [block.code for block in blocks_of(page.read_text(encoding="utf-8"))]
    return [program_of(page)]


def program_of(page: Path) -> str:
    """The code of a page, each line where the page has it; without what is shown to fail."""
    lines: list[str] = []

    def add(code: str, line: int) -> None:
        lines.extend([""] * (line - len(lines)))
        lines.extend(code.rstrip("\n").split("\n"))

    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language != "pycon":
            add(block.code, block.line)
            continue
        for example in examples_of(block):
            if example.exc_msg is None:
                add(example.source, block.line + example.lineno)
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("checker", [
    pytest.param("mypy", marks=[pytest.mark.needs("mypy"), pytest.mark.long]),
    pytest.param("basedpyright", marks=[pytest.mark.needs("basedpyright"), pytest.mark.long]),
])  # fmt: skip
def test_what_pages_show_has_types(checker: str, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for page in PAGES:
        name = page.relative_to(ROOT).with_suffix("").as_posix().replace("/", "_")
        for number, program in enumerate(programs_of(page)):
            (folder / f"{name}_{number}.py").write_text(program, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    (tmp_path / "mypy.ini").write_text(MYPY)
    options = {
        "mypy": ["--config-file", str(tmp_path / "mypy.ini")],
        "basedpyright": ["--project", str(tmp_path), "--pythonpath", sys.executable],
    }
    # From elsewhere minigrad is a package that is installed: it is asked for what it exports.
    done = subprocess.run(
        [sys.executable, "-m", checker, *options[checker], *map(str, folder.glob("*.py"))],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line.strip() for line in done.stdout.splitlines() if " error: " in line]
    assert "rror" in done.stdout, done.stdout + done.stderr  # the last line says how many
    errors = [line for line in errors if not KNOWN.search(line)]
    assert not errors, "\n".join(errors)
