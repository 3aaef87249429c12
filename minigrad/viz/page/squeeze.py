"""Scripts and style sheets in fewer letters: without comments and spaces, with short names.

The page's own files are written so that this can be simple: every statement ends with a semicolon
or a brace, there are no classes, labels or ``switch``, and a name stands for a variable or for one
of the `GLOBALS`, not now for this and now for that. So every variable can have one new name
everywhere. What stands after a dot or before a colon is a property and keeps its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, product
from string import ascii_letters

__all__ = ["script", "style"]

TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<number>\d[\w.]*)
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<sign>=>|\.\.\.|\?\.(?!\d)|\?\?=?|\*\*|\+\+|--|&&|\|\|=?|[=!]==?|[<>]=|[-+*/]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)

REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/[a-z]*")
CHUNK = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(?:`|\$\{)", re.DOTALL)
"""A piece of a template, up to its end or to a value."""

KEYWORDS = frozenset({
    "arguments", "as", "async", "await", "break", "case", "catch", "class", "const", "continue",
    "debugger", "default", "delete", "do", "else", "enum", "eval", "export", "extends", "false",
    "finally", "for", "from", "function", "get", "if", "implements", "import", "in",
    "instanceof", "interface", "let", "new", "null", "of", "package", "private", "protected",
    "public", "return", "set", "static", "super", "switch", "this", "throw", "true", "try",
    "typeof", "var", "void", "while", "with", "yield",
})  # fmt: skip
GLOBALS = frozenset({
    "Array", "Boolean", "CSS", "DOMParser", "Infinity", "JSON", "Map", "Math", "Object",
    "ResizeObserver", "Set", "String", "Uint8Array", "abs", "addEventListener", "atob",
    "cancelAnimationFrame", "clearInterval", "decodeURIComponent", "document",
    "encodeURIComponent", "floor", "history", "location", "matchMedia", "max", "min",
    "parseInt", "performance", "requestAnimationFrame", "setInterval", "undefined",
})  # fmt: skip
"""What the page's files use of the browser."""

BEFORE_REGEX = frozenset({"(", ",", "=", "!", "&&", "||", "return"})
BEFORE_OBJECT = frozenset({
    "(", ",", "=", ":", "[", "?", "??", "&&", "||", "...", "const", "let", "of", "return",
})  # fmt: skip
"""What an object or a pattern comes after; any other brace begins a block."""


def script(text: str) -> str:
    r"""Squeeze a script.

    Args:
        text: JavaScript, written as described above.

    Returns:
        The same program.

    Example:
        >>> from minigrad.viz.page import squeeze
        >>> squeeze.script('const total = f.total; // why\nreturn total + -1;')
        'const a=b.total;return a+ -1;'
    """
    tokens = list(_tokens(text))
    roles = _roles(tokens)
    used = Counter(
        token for (kind, token), role in zip(tokens, roles, strict=True) if role != "property"
        if kind == "name" and token not in KEYWORDS | GLOBALS
    )  # fmt: skip
    fresh = _short_names()
    short = {name: next(fresh) for name, _ in used.most_common()}
    written = []
    before = ""
    for (kind, token), role in zip(tokens, roles, strict=True):
        if kind == "name" and role != "property":
            new = short.get(token, token)
            token = f"{token}:{new}" if role == "both" else new
        written.append(_apart(before, token) + token)
        before = token
    return re.sub(r"(?<!\));}", "}", re.sub(r"\((\w+)\)=>", r"\1=>", "".join(written)))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Take a script apart: kinds and texts; spaces and comments are left out."""
    at, before = 0, ""
    braces: list[bool] = []  # for each open brace, whether it is that of a value in a template
    while at < len(text):
        if text[at] == "`" or (text[at] == "}" and braces[-1]):
            if text[at] == "}":
                braces.pop()
            match = CHUNK.match(text, at + 1)
            kind = "string"
        elif text[at] == "/" and before in BEFORE_REGEX and text[at + 1] not in "/*":
            match, kind = REGEX.match(text, at), "string"
        else:
            match = TOKEN.match(text, at)
            kind = match.lastgroup if match and match.lastgroup else ""
        assert match is not None
        token = text[at : match.end()]
        at = match.end()
        if token.endswith("${") and kind == "string":
            braces.append(True)
        elif kind == "sign" and token == "{":
            braces.append(False)
        elif kind == "sign" and token == "}":
            braces.pop()
        if kind != "space":
            yield kind, token
            before = token


def _roles(tokens: Sequence[tuple[str, str]]) -> list[str]:
    """Say of each name whether it is a ``"variable"``, a ``"property"``, or ``"both"``."""
    roles = []
    around: list[str] = []
    for place, (kind, token) in enumerate(tokens):
        before = tokens[place - 1][1] if place else ""
        after = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        if kind == "name":
            in_object = around[-1:] == ["object"] and before in ("{", ",")
            if before in (".", "?.") or (in_object and after in (":", "(")):
                roles.append("property")
            else:
                roles.append("both" if in_object else "variable")
            continue
        roles.append("")
        if kind == "string":
            if token[0] == "}":
                around.pop()
            if token.endswith("${"):
                around.append("value")
        elif token in "([":
            around.append(token)
        elif token == "{":
            around.append("object" if before in BEFORE_OBJECT else "block")
        elif token in ")]}":
            around.pop()
    return roles


def _short_names() -> Iterator[str]:
    for length in count(1):
        for letters in product(ascii_letters, repeat=length):
            name = "".join(letters)
            if name not in KEYWORDS | GLOBALS:
                yield name


def _apart(before: str, token: str) -> str:
    """A space where two tokens would run into each other."""
    if not before:
        return ""
    words = re.match(r"[\w$]", token) and re.match(r"[\w$]", before[-1])
    return " " if words or (before[-1] in "+-" and token[0] in "+-") else ""


def style(text: str) -> str:
    """Squeeze a style sheet.

    Args:
        text: CSS.

    Returns:
        The same rules.

    Example:
        >>> from minigrad.viz.page import squeeze
        >>> squeeze.style("a, b { color: red; /* why */ }")
        'a,b{color:red}'
    """
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?([{};,>]) ?", r"\1", text)
    return re.sub(r": ", ":", text).replace(";}", "}").strip()
