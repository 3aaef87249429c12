#!/usr/bin/env python
"""Write docs/aliases.md from the table of spellings: make aliases."""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Iterator
from pathlib import Path

import minigrad
from minigrad.spellings import answers, table
from minigrad.spellings.lookup import Spelling, spellings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "aliases.md"
PACKAGES = [
    "", "autograd", "autograd.functional", "data", "io", "linalg", "nn", "nn.by_hand",
    "nn.functional", "nn.generation", "nn.init", "nn.utils", "onnx", "optim",
    "optim.lr_scheduler", "pretrained", "random", "viz",
]  # fmt: skip
FROM = {"Tensor.unsqueeze": "Lucid, PyTorch", "nn.Swish": "Lucid"}

INTRODUCTION = """
# Names

minigrad has one name for each thing: NumPy's if NumPy has it, with NumPy's meaning; otherwise
Lucid's; otherwise PyTorch's. Keywords are NumPy's: `axis`, `keepdims`. The spellings of PyTorch,
Lucid 3 and Lucid 2 in the tables below work too: they are for code that comes from there. Where a
spelling is ours and theirs and means different things, see the page for your library:
{doc}`from_pytorch`, {doc}`from_lucid3`, {doc}`lucid_port`, {doc}`from_numpy`.

`make aliases` writes this page from the table that minigrad itself reads,
`minigrad/spellings/table.py`. In the tables, `x` is a tensor; the right side says what is computed,
in our names. Where a name is ours too, such as `max`, a call that fits ours is ours; PyTorch's
keywords bring the line of the table: `x.max(1)` is NumPy's, `x.max(dim=1)` and `x.max(other=y)` are
PyTorch's.
"""

IN_PLACE = """
The in-place methods (`add_`, `sub_`, `mul_`, `div_`, `neg_` …) have Lucid's short names. Each does
the same as the operation without the underscore, in the tensor's own memory. So do activations and
dropout with PyTorch's `inplace=True`.
"""

SHOWN = [
    (r"^write\(self, (.*)\)$", r"x[...] = \1"),
    (r"^ValuesAndIndices\((.*)\)$", r"\1"),
    (r"tuple_of\((\w+)\)", r"\1"),
    (r"scaled\(input, (\w+)\)", r"\1 * x"),
    (r"ddof\(unbiased, correction\)", "ddof"),
    (r"\b(input|self)\b(?!=)", "x"),
]


def own_aliases() -> set[tuple[str, str]]:
    """The second names of our own, and the first ones."""
    found = set()
    owners = {name: importlib.import_module(f"minigrad.{name}".rstrip(".")) for name in PACKAGES}
    for prefix, owner in {**owners, "Tensor": minigrad.Tensor}.items():
        for alias, value in vars(owner).items():
            real = getattr(value, "__name__", alias)
            if not alias.startswith("_") and real != alias and vars(owner).get(real) is value:
                found.add((f"{prefix}.{alias}".lstrip("."), f"{prefix}.{real}".lstrip(".")))
    return found


def shown_call(spelling: Spelling) -> str:
    """A call as others write it; `x` is the tensor of a method."""
    call = re.sub(r"\((input|self)(, )?", "(", spelling.call)
    return f"x.{call}" if spelling.is_method else call


def shown_answer(spelling: Spelling) -> str:
    """What it is here: an expression in our names, or the helper's words."""
    ours = spelling.ours
    for pattern, replacement in SHOWN:
        ours = re.sub(pattern, replacement, ours)
    helper = getattr(answers, ours.partition("(")[0], None)
    if getattr(helper, "__module__", "") == answers.__name__:
        return words_of(helper)
    return f"`{ours}`"


def rows(heads: str, lines: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """A table."""
    names = heads.split(" | ")
    yield f"| {heads} |\n|{'---|' * len(names)}"
    yield from (f"| {' | '.join(cells)} |" for cells in lines)


def dtypes(marked: bool) -> Iterator[tuple[str, str]]:
    """The names of dtypes, of Lucid 2 or of PyTorch."""
    for line in table.NAMES.strip().splitlines():
        if ("# 2" in line) is marked:
            theirs, ours = line.partition("  # ")[0].split()
            yield f"`{theirs}`", f"`{ours}`"


def calls(whose: str) -> Iterator[tuple[str, str]]:
    """The functions and methods of a library."""
    for lines in spellings().values():
        for line in lines:
            if line.whose == whose:
                yield f"`{shown_call(line)}`", shown_answer(line).replace("|", r"\|")


def names_of_modules() -> Iterator[tuple[str, str]]:
    """The names in modules."""
    for module, names in table.MODULES.items():
        prefix = "" if module == "minigrad" else f"{module}."
        for theirs, ours in names.items():
            helper = answers.ANSWERS.get(ours.removeprefix("answers."))
            yield f"`{prefix}{theirs}`", f"`{ours}`" if helper is None else words_of(helper)
    for name, value in answers.VALUES.items():
        shown = words_of(value) if isinstance(value, types.SimpleNamespace) else f"`{value}`"
        yield f"`{name}`", shown


def words_of(helper: object) -> str:
    """What something does: the names that it holds, or its docstring's sentence."""
    if isinstance(helper, types.SimpleNamespace):
        return "only " + ", ".join(f"`{name}`" for name in vars(helper))
    return (helper.__doc__ or "").partition("\n")[0].removesuffix(".").replace("``", "`")


def keywords() -> Iterator[tuple[str, str]]:
    """The keywords."""
    yield "`input`, `other`", "the first argument, the second"
    yield from ((f"`{theirs}=`", f"`{ours}=`") for theirs, ours in table.KEYWORDS.items())
    for owner, names in table.ARGUMENTS.items():
        for theirs, ours in names.items():
            yield f"`{theirs}=` of `{owner}`", f"`{ours}=`"
    unused = ", ".join(f"`{name}=`" for name in sorted(table.UNUSED))
    yield unused, "left out: they change only the speed"


def page() -> str:
    """The text of docs/aliases.md."""
    aliases = ((f"`{a}`", f"`{b}`", FROM[a]) for a, b in sorted(own_aliases()))
    attributes = ((f"`x.{a}`", f"`{b}`".replace("self", "x")) for a, b in table.ATTRIBUTES.items())
    heads = "PyTorch, Lucid 3 | minigrad"
    parts = [
        INTRODUCTION.strip(),
        "\n## Second names of our own\n",
        *rows("alias | the same as | name from", aliases),
        IN_PLACE.rstrip(),
        "\n## PyTorch and Lucid 3\n\n### Keywords\n",
        *rows(heads, keywords()),
        "\n### Functions and methods of tensors\n",
        *rows(heads, calls("T")),
        "\n### Attributes of tensors\n",
        *rows(heads, attributes),
        "\n### Names of modules\n",
        *rows(heads, names_of_modules()),
        "\n### Dtypes\n\nAs a method, `x.long()`, a name converts a tensor.\n",
        *rows(heads, dtypes(False)),
        "\n## Lucid 2\n\nIts other names are ours.\n",
        *rows("Lucid 2 | minigrad", (row for part in (dtypes(True), calls("2")) for row in part)),
        "\n## NumPy\n\nIts other names are ours.\n",
        *rows("NumPy | minigrad", calls("N")),
        "\n## What is not here\n",
        *rows("name | instead", ((f"`{a}`", b) for a, b in table.ABSENT.items())),
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
