"""Finds the code on a Markdown page, and runs it from top to bottom.

A ```python block is executed. A ```pycon block is executed too, and the tests compare what it
prints, as in a docstring. A block above a picture of `_static/graphs` ends with a graph, and the
tests compare the picture with its drawing. The blocks of one page share their names.
"""

import ast
import doctest
import re
import textwrap
from typing import Any, NamedTuple

__all__ = ["Block", "blocks_of", "evaluate", "examples_of", "run"]

FENCE = re.compile(
    r"^( *)```(?P<language>python|pycon)\n(?P<code>.*?)^ *```$"
    r"(\n\n!\[[^]]*\]\((?P<picture>[./]*_static/graphs/\w+\.svg)\))?",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A piece of code on a page.

    Attributes:
        language: ``"python"`` or ``"pycon"``.
        line: The number of lines before its code.
        code: The code.
        start: The offset of the block in the text, with its fence.
        end: The offset of its end, with its picture.
        picture: The file with the drawing of its last value, seen from the page; empty if none.
    """

    language: str
    line: int
    code: str
    start: int
    end: int
    picture: str


def blocks_of(text: str) -> list[Block]:
    """Find the code on a page.

    Args:
        text: The page.

    Returns:
        Its blocks, from top to bottom.
    """
    return [
        Block(
            language=match["language"],
            line=text.count("\n", 0, match.start("code")),
            code=textwrap.dedent(match["code"]),
            start=match.start(),
            end=match.end(),
            picture=match["picture"] or "",
        )
        for match in FENCE.finditer(text)
    ]


def examples_of(block: Block) -> list[doctest.Example]:
    """Take a pycon block apart.

    Args:
        block: The block.

    Returns:
        Each statement with its output.
    """
    return doctest.DocTestParser().get_examples(block.code)


def evaluate(code: str, names: dict[str, Any], file: str, line: int = 0) -> Any:
    """Run code as a cell of a notebook does.

    Args:
        code: Statements.
        names: The namespace of the code.
        file: The file name in tracebacks.
        line: The number of lines before it in the file.

    Returns:
        The value of the last statement if it is an expression, None otherwise.
    """
    tree = ast.parse("\n" * line + code, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), file, "eval"), names)


def run(block: Block, names: dict[str, Any], file: str) -> Any:
    """Run a block for its effect on the namespace, without comparing its output.

    Args:
        block: The block.
        names: The namespace of its page.
        file: The page.

    Returns:
        The value of its last statement.
    """
    if block.language != "pycon":
        return evaluate(block.code, names, file, block.line)
    for example in examples_of(block):
        try:
            evaluate(example.source, names, file, block.line + example.lineno)
        except Exception:
            if example.exc_msg is None:
                raise
    return None
