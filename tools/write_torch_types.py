#!/usr/bin/env python
"""Write the stubs of minigrad.torch from what it holds when it is imported: make torch-types.

Type checkers and editors read ``name.pyi`` in the place of ``name.py``. A module has one if it
makes names when it is imported, if it has no file, or if its source does not say which are tensors.

The type of a parameter is the one that is said, there or in a base class; or else that of its name
in tools/torch_types.py; or else that of its default; or else Any. The type of a result is the one
that is said; or else that of the expression in a line of the door's tables; or else
Tensor, if a parameter is a tensor; or else Any. Any tensor may be given (_AnyTensor, minigrad's own
class); what comes back is a `Tensor`.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import contextlib
import functools
import importlib
import inspect
import itertools
import re
import subprocess
import sys
import tempfile
import types
import typing
from collections import ChainMap
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # not another minigrad that is installed

import torch_types as table
from torch_types import DOOR, NN, TENSOR

import minigrad.torch
from minigrad.ops import sorting
from minigrad.ops.linalg import factors

NAMED: dict[str, Any] = {
    kind.__name__: kind for kind in (sorting.ValuesAndIndices, factors.QRResult)
}
"""Named tuples that hold tensors: tensor.pyi has them with PyTorch's tensors."""

FUNCTIONS = "minigrad.tensors.functions"


class Text(str):
    """Text that `inspect.Signature` writes as it is."""

    __repr__ = str.__str__


def of_names(lines: str) -> dict[str, str]:
    """The type of each name."""
    pairs = [line.partition(": ") for line in lines.strip().splitlines()]
    return {name: kind for kind, _, names in pairs for name in names.split()}


PARAMETER_TYPES, RESULT_TYPES = of_names(table.PARAMETERS), of_names(table.RESULTS)


@functools.cache
def imports(module: types.ModuleType) -> tuple[list[str], set[str], set[str]]:
    """The imports that a module offers, as lines; the names that it imports; those it defines."""
    lines: list[str] = []
    names: set[str] = set()
    defined: set[str] = set()
    if not hasattr(module, "__file__"):  # a view of another module, with names of its own
        return [f"from {module.target} import *"] if module.target else [], names, defined
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            home = getattr(node, "module", "") or ""
            for each in node.names:
                whole = each.name == "*" and not home.startswith(DOOR)
                names.add((each.asname or each.name).partition(".")[0])
                names |= {*importlib.import_module(home).__all__} if whole else set()
                listed = (each.asname or each.name) in getattr(module, "__all__", ())
                if whole or listed or each.name == each.asname:
                    lines.append(f"from {home} import {ast.unparse(each)}")
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            defined |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return lines, names, defined


def can_be_imported(name: str) -> bool:
    """Whether there is a module of this name."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name) is not None
    return False


@functools.cache
def modules() -> dict[str, bool]:
    """The modules that hold what the package offers; whether each is offered itself."""
    tables = vars(sys.modules.get(f"{DOOR}.modules", types))
    more = [f"{DOOR}.{name}" for name in (*tables.get("_KNOWN", ()), *tables.get("_FILES", ()))]
    found = {name: True for name in (DOOR, *more) if can_be_imported(name)}
    for name in (left := [*found]):
        module = importlib.import_module(name)
        pairs = [line.split()[1:4:2] for line in imports(module)[0]]
        offered = [f"{home}.{what}" for home, what in pairs if f"{home}.{what}" in sys.modules]
        held = [value for word, value in vars(module).items() if not word.startswith("_")]
        homes = [value.__module__ for value in held if isinstance(value, type)]
        for each in [each for each in (*offered, *homes) if each.startswith(DOOR)]:
            left += [each] if each not in found else []
            found[each] = found.get(each, False) or each in offered
    return found


@functools.cache
def classes() -> tuple[dict[type, tuple[str, str]], dict[type, type]]:
    """The module and the name of each class of PyTorch's; and such a class for minigrad's."""
    places: dict[type, list[tuple[str, str]]] = {}
    for home, offered in modules().items():
        module = sys.modules[home]
        for name, kind in vars(module).items():
            inside = isinstance(kind, type) and kind.__module__.startswith(DOOR)
            own = name not in imports(module)[1] and (offered or not name.startswith("_"))
            if inside and own:
                places.setdefault(kind, []).append((home, name))
    homes = {
        kind: min(held, key=lambda place: place != (kind.__module__, kind.__name__))
        for kind, held in places.items()
    }
    bases = [(base, kind) for kind in homes for base in kind.__mro__]
    return homes, {base: kind for base, kind in bases if base.__name__ == kind.__name__}


def text(kind: Any, back: bool) -> str:
    """A type as it is written; in what comes back, minigrad's classes are PyTorch's."""
    if isinstance(kind, typing.ForwardRef) and kind.__forward_arg__.endswith("Tensor"):
        kind = minigrad.Tensor
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind in (None, types.NoneType, Any, typing.Self, typing.NoReturn):
        return "None" if kind in (None, types.NoneType) else str(kind).removeprefix("typing.")
    if origin in (types.UnionType, typing.Union):
        choices = dict.fromkeys(text(each, back) for each in inner)
        return " | ".join(sorted(choices, key=lambda part: part == "None"))
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin is collections.abc.Callable:
        given = ", ".join(text(each, not back) for each in inner[0]) if inner[0] is not ... else ""
        return f"Callable[{f'[{given}]' if given else '...'}, {text(inner[1], back)}]"
    if origin is not None:
        parts = ["..." if each is ... else text(each, back) for each in inner]
        parts = ["Tensor", "..."] if back and inner == (Any, ...) else parts or ["()"]
        return f"{text(origin, back)}[{', '.join(parts)}]"
    if not isinstance(kind, type):
        return "_T" if isinstance(kind, typing.TypeVar) else "Any"
    if hasattr(kind, "_fields") and kind.__module__.startswith(("minigrad.ops", FUNCTIONS, DOOR)):
        return f"_{NAMED.setdefault(kind.__name__, kind).__name__}"
    homes, theirs = classes()
    if kind in homes or (back and kind in theirs):
        return homes[kind if kind in homes else theirs[kind]][1]
    if kind is minigrad.Tensor:
        return "_AnyTensor"
    if kind.__module__ in ("builtins", "collections.abc", "typing", "numpy"):
        return f"np.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
    name = kind.__qualname__
    for home in (re.sub(r"\._.*", "", kind.__module__), kind.__module__):
        if getattr(sys.modules[home], name, None) is kind:
            return f"{home}.{name}"
    return "Any"


def said(annotation: Any, function: Any, owner: type | None, back: bool) -> str:
    """The type in an annotation; nothing where there is none."""
    homes = [vars(sys.modules[base.__module__]) for base in (owner.__mro__ if owner else ())]
    names = ChainMap(inspect.unwrap(function).__globals__, *homes, vars(builtins))
    try:
        kind = eval(annotation, {}, names) if isinstance(annotation, str) else annotation
    except NameError:  # known to type checkers only
        kind = Any
    return "" if kind is Parameter.empty else text(kind, back)


def said_in_base(function: Any, owner: type | None, name: str, index: int) -> str:
    """The type of a parameter in the method of a base class."""
    for base in owner.__mro__[1:] if owner else ():
        other = vars(base).get(function.__name__)
        if isinstance(other, types.FunctionType) and other is not function:
            given = inspect.signature(other).parameters
            same = given.get(name, [*given.values(), None][min(index, len(given))])
            if same and (name == same.name or function.__name__ == "forward"):
                return said(same.annotation, other, base, False)
    return ""


def parameters(function: Any, owner: type | None, known: bool) -> list[Parameter]:
    """The parameters of a function; whether their names are `known`, as those of PyTorch's are."""
    found, whole = [], f"{function.__module__}.{function.__name__}"
    for index, (name, given) in enumerate(inspect.signature(function).parameters.items()):
        kind, default = said(given.annotation, function, owner, name == "self"), given.default
        plain, word = type(default) in (bool, int, float, str), type(default).__name__
        kind = kind or said_in_base(function, owner, name, index)
        if kind in ("", "Any") and known:
            kind = PARAMETER_TYPES.get(name, kind or (word if plain else "Any"))
            kind = PARAMETER_TYPES.get(f"{function.__name__}.{name}", kind)
            kind = kind.replace("device", text(minigrad.torch.device, True))
            if name == "dim" and (default in (None, ()) or "axes(dim)" in str(function.__doc__)):
                kind = "int | Sequence[int]"
            if given.kind is Parameter.VAR_POSITIONAL and kind.startswith("Sequence["):
                kind = f"_AnyTensor | {kind}"
            if plain and not re.search(rf"{word}|Any$" + ("|float" if word == "int" else ""), kind):
                kind = "bool" if word == "bool" else f"{kind} | {word}"
        if default is None and not re.search(r"(\bAny|None)$", kind):
            kind += " | None"
        if name == "options" and (what := re.search(r"\.creation|\.new_|\.to$", whole)):
            kind = "Unpack[_To]" if what[0] == ".to" else "Unpack[_Creation]"
        if default is not Parameter.empty:
            shown = default if plain or default is None or type(default) is tuple else Text("...")
            default = Text("...") if re.search("inf|nan", repr(shown)) else shown
        found.append(given.replace(annotation=Text(kind or "Any"), default=default))
    return found


def result(name: str, function: Any, owner: type | None, takes: list[Parameter]) -> str:
    """The type of what a function returns."""
    inside = inspect.unwrap(function)
    home = inside.__module__ or ""
    chosen = RESULT_TYPES.get(f"{owner.__name__}.{name}" if owner else name, RESULT_TYPES.get(name))
    kind = said(inspect.signature(function).return_annotation, function, owner, True)
    if inspect.isgeneratorfunction(inside) and inside is not function:
        return "contextlib._GeneratorContextManager[None]"
    ours = home.startswith("minigrad.tensors") and not home.startswith(FUNCTIONS)
    known = chosen or kind not in ("", "Any") or ours
    if known or name == "__init__":
        return chosen or kind or "None"
    line = re.match(r"As PyTorch's: ``(.*)`` in", str(function.__doc__))
    value = ast.parse(line[1], mode="eval").body if line else None
    if isinstance(value, ast.Call):
        called = None
        with contextlib.suppress(AttributeError, NameError):  # a method of a tensor
            called = eval(ast.unparse(value.func), inside.__globals__)
        if inspect.isfunction(called):
            gives = result("", called, None, [Parameter("x", PLACE, annotation="_AnyTensor")])
            return "Tensor" if "|" in gives else gives
        kind = text(tuple[Any, ...] if called is tuple else called, True)
        return kind if isinstance(called, type) else "Tensor"
    if value:
        with contextlib.suppress(ValueError):  # it is computed
            return text(type(ast.literal_eval(value)), True)
    if isinstance(value, ast.Tuple):
        return f"tuple[{', '.join(['Tensor'] * len(value.elts))}]"
    if isinstance(value, ast.Compare):
        return "bool"
    if line and re.search(r"\.(size|ndim|itemsize)$", line[1]):
        return "int"
    takes_tensors = any("Tensor" in each.annotation for each in takes)
    if owner:
        layer = name == "forward" and takes_tensors
        return "Tensor" if layer or owner is minigrad.torch.Tensor else "Any"
    return "Tensor" if takes_tensors or home == f"{DOOR}.creation" else "Any"


PLACE, KEYWORD = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY


def variants(
    name: str, takes: list[Parameter], gives: str
) -> Iterator[tuple[list[Parameter], str]]:
    """A signature, or several where the type of the result depends on the arguments."""
    by_name = {each.name: each for each in takes}
    flags = [each for each in takes if each.name in table.FLAGS]
    if name in table.CHOSEN and by_name["dim"].default is None:
        yield takes[:1], "Tensor"
        dim = by_name["dim"].replace(annotation=Text("int"), default=Parameter.empty)
        yield [takes[0], dim, by_name["keepdim"]], "_ValuesAndIndices"
        if "other" in by_name:
            yield [takes[0], Parameter("other", PLACE, annotation=Text("_AnyTensor"))], "Tensor"
    elif name == "__init__" and "collate_fn" in by_name:  # a loader
        for batch, given, collate in (
            ("tuple[Tensor, ...]", "minigrad.data.datasets.TensorDataset", "None"),
            ("Any", "Any", by_name["collate_fn"].annotation),
        ):
            new = {"self": f"DataLoader[{batch}]", "dataset": given, "collate_fn": collate}
            yield [p.replace(annotation=Text(new.get(p.name, p.annotation))) for p in takes], gives
    elif flags and gives == "Tensor":
        off = Text("Literal[False]")
        yield [each.replace(annotation=off) if each in flags else each for each in takes], gives
        yield takes, table.FLAGS[flags[0].name]
    else:
        yield takes, gives
    if takes and str(takes[0]).startswith("*size"):
        yield [Parameter("size", KEYWORD, annotation=Text("Sequence[int]")), *takes[1:]], gives


def function_lines(name: str, given: Any, owner: type | None, known: bool = True) -> list[str]:
    """The lines of a function or method."""
    kind = type(given) if isinstance(given, (staticmethod, classmethod)) else None
    function = getattr(given, "__func__", given)
    written = table.SIGNATURES.get(f"{owner.__name__ if owner else 'torch'}.{name}", [])
    if isinstance(function, functools.partialmethod):  # a conversion
        written = ["(self, memory_format: Any = None) -> Tensor"]
    special = name.startswith("__") and name != "__init__"
    if not written:
        takes = parameters(function, owner, known and not special)
        gives = result(name, function, owner, takes)
        plain = f"__{name[3:]}" if special else name.removesuffix("_")
        twin = getattr(owner or minigrad.torch.Tensor, plain, None)
        passed_on = [each.kind.name for each in takes[1:]] == ["VAR_POSITIONAL", "VAR_KEYWORD"]
        if twin and passed_on and name.endswith("_"):
            takes = parameters(twin, owner, not special)
            gives = gives if owner else "Tensor"
        if owner and kind is not staticmethod:
            takes[0] = takes[0].replace(name="cls" if kind else "self", annotation=Parameter.empty)
        layer = owner.__name__ if owner and owner.__module__ == NN and name == "__init__" else ""
        if table.WITH_WEIGHTS.fullmatch(layer) and "VAR_" not in takes[-1].kind.name:
            for word, wide in {"device": "str | None", "dtype": "DTypeLike | None"}.items():
                if word not in {each.name for each in takes}:
                    takes.append(Parameter(word, KEYWORD, annotation=Text(wide), default=None))
        in_place = re.fullmatch(r"(?!__).*_|__i(?!nvert).*", name)
        gives = "Self" if owner and in_place and gives == "Tensor" else gives
        for shown, what in variants(name, takes, gives):
            written.append(str(inspect.Signature(shown, return_annotation=Text(what))))
    marks = [f"@{kind.__name__}"] if kind else []
    marks += ["@overload"] if len(written) > 1 else []
    return [line for each in written for line in (*marks, f"def {name}{each}: ...")]


def attributes(kind: type) -> Iterator[str]:
    """The attributes that a class assigns to `self`; a parameter that may be None counts as one."""
    start = r"    (?:    self\.)?([a-z]\w*)(?:: [^=]*)? = (Parameter|Buffer)?"
    found: dict[str, str] = {}
    for base in kind.__mro__:
        if base is not kind and not base.__module__.startswith("minigrad.nn."):
            continue
        try:
            lines = inspect.getsource(base).splitlines()
        except (OSError, TypeError):  # made when the module is imported
            continue
        for line in lines:
            match = re.match(start, line) or re.match(r"    (\w+): (Parameter|Tensor)\b", line)
            held = match and inspect.getattr_static(kind, match[1], None)
            if match and not isinstance(held, property) and (match[2] or base is kind):
                maybe = " | Any" if line.endswith("None") and match[2] else ""
                found.setdefault(match[1], f"{match[2] or 'Any'}{maybe}")
    yield from (f"{name}: {what}" for name, what in sorted(found.items()))


METHODS = (types.FunctionType, functools.partialmethod, staticmethod, classmethod)


def members(kind: Any) -> Iterator[str]:
    """The lines of a class: its own members, and inherited ones that give or take other classes."""
    yield from (lines := [*attributes(kind)])
    written = {line.partition(":")[0] for line in lines}
    bases = [*itertools.takewhile(lambda base: base not in classes()[0], kind.__mro__[1:])]
    names = {name: base for base in reversed([kind, *bases]) for name in vars(base)}
    for name, base in sorted(names.items(), key=lambda pair: (pair[0] != "__init__", pair[0])):
        value, own = vars(base)[name], base is kind
        if not base.__module__.startswith("minigrad") or re.match(
            "_[^_]|__(annotat|getattr_|hash_|init_s)", name
        ):
            continue
        if isinstance(value, property):
            lines = ["@property", f"def {name}(self) -> {result(name, value.fget, kind, [])}: ..."]
            if value.fset:
                lines += [f"@{name}.setter", f"def {name}(self, value: Any) -> None: ..."]
        elif isinstance(value, METHODS[: None if own else 2]):
            lines = function_lines(name, value, kind)
        else:
            if own and not (name.startswith("_") or callable(value) or name in written):
                yield f"{name} = {value.value!r}" if isinstance(value, kind) else f"{name}: Any"
            continue
        changed = re.search(r"\b(Tensor|Parameter|Module)\b|Self:", str(lines))
        if own or changed or name == "__init__":
            yield from lines
            packed = re.search(r"_AnyTensor \| [\w.]+PackedSequence", lines[0])
            if name == "forward" and packed:  # it gives what it is given
                call = lines[0].replace("forward", "__call__").replace(packed[0], "_T")
                yield call.replace("tuple[Any", "tuple[_T")


def class_text(kind: type) -> str:
    """A class."""
    shown = [base for base in kind.__bases__ if base.__module__ not in modules()]
    shown += [base for base in kind.__mro__[1:] if base in classes()[0]][:1]
    bases = [text(base, base in classes()[0]) for base in vars(kind).get("__orig_bases__", shown)]
    if any(getattr(base, "__parameters__", ()) for base in shown):
        bases[0] += "[_T]" if kind.__name__ == "DataLoader" else "[Any]"
    lines = [unshadowed(line, {*dir(kind)}) for line in members(kind)] or ["..."]
    return f"class {classes()[0][kind][1]}({', '.join(bases)}):\n    " + "\n    ".join(lines)


def unshadowed(line: str, names: set[str]) -> str:
    """A line in whose types a builtin has an underscore, if its name means something else there."""
    taken = "|".join(names & {"bool", "complex", "float", "int", "type"}) or "(?!)"
    inside = rf"(?<=: |> |\| |.\[)({taken})\b(?!\()|(?<=, )({taken})(?=[\],])"
    return re.sub(inside, r"_\1\2", line)


def definitions(module: types.ModuleType) -> tuple[list[str], list[str], bool]:
    """The imports of a stub, and its other lines; whether the source does not show them."""
    offered, imported, defined = imports(module)
    shown = [*offered]
    parts, known = [], modules()[module.__name__]
    hidden = not hasattr(module, "__file__")
    for name, value in sorted(vars(module).items(), key=lambda pair: (callable(pair[1]), pair[0])):
        place = classes()[0].get(value) if isinstance(value, type) else None
        own = place is not None or (name in defined and inspect.isfunction(value))
        if name in imported or isinstance(value, types.ModuleType):
            continue
        if name == "target" and not hasattr(module, "__file__"):
            continue
        if name == "__all__":
            lines = [f"__all__ = {value}"]
        elif name.startswith("__") or (name.startswith("_") and not own):
            continue
        elif place == (module.__name__, name):
            lines = [class_text(value)]
        elif isinstance(value, type) and name != (place or ("", value.__name__))[1]:
            lines = [f"{name} = {text(value, False)}"]
        elif isinstance(value, type):
            home = place[0] if place else value.__module__
            shown.append(f"from {home} import {name} as {name}")
            lines = []
        elif inspect.isfunction(value):
            lines = function_lines(name, value, None, known and not name.startswith("_"))
        elif isinstance(value, np.dtype):
            lines = [f"{name}: np.dtype[np.{value.type.__name__}]"]
        else:
            plain = type(value) in (bool, int, float, str, types.NoneType)
            lines = [f"{name}: {text(type(value), True) if plain else 'Any'}"]
        parts += [unshadowed(line, {*vars(module)}) for line in lines]
        hidden |= name not in (*defined, "__all__") or bool(re.search(r"\bTensor\b", str(lines)))
    return shown, parts, hidden


def stub(module: types.ModuleType) -> str:
    """The stub of a module; empty if it needs none."""
    lines, parts, hidden = definitions(module)
    for name, kind in sorted(NAMED.items() if module.__name__ == TENSOR else ()):
        fields = "".join(f"\n    {field}: Tensor" for field in kind._fields)
        parts.append(f"class _{name}(NamedTuple):{fields}")
    parts += [unshadowed(table.EXTRA.get(module.__name__, ""), {*vars(module)})]
    written = "\n".join(parts)
    homes = dict.fromkeys([*(f"_{name}" for name in NAMED), "_To", "_Creation"], TENSOR)
    homes |= {name: home for home, name in classes()[0].values()}
    homes |= {name: home.__name__ for home in (collections.abc, typing) for name in home.__all__}
    homes["DTypeLike"] = "numpy.typing"
    here = {*re.findall(r"^class (\w+)", written, re.M)}
    lines = [line for line in lines if line and line.split()[-1] not in here]
    inside = re.compile(re.escape(module.__name__) + r"\.(\w+)")
    rooms = [
        found[1] for each in modules() if modules()[each] and (found := inside.fullmatch(each))
    ]
    lines = [*{*lines, *(f"from {module.__name__} import {room} as {room}" for room in rooms)}]
    used = {*re.findall(r"(?<![.\w])\w+", written)} - here - {line.split()[-1] for line in lines}
    lines += [f"from {homes[name]} import {name}" for name in used & {*homes}]
    under = [name for name in vars(builtins) if f"_{name}" in used]
    lines += [f"from builtins import {name} as _{name}" for name in under]
    lines += ["import numpy as np", "from minigrad.tensors.tensor import Tensor as _AnyTensor"]
    dotted = {*re.findall(r"(?<![.\w])([\w.]+)\.\w+", written)}
    lines += [f"import {home}" for home in dotted if home in sys.modules]
    lines += ["from typing import TypeVar"] if "_T" in used else []
    variable = '_T = TypeVar("_T")' if "_T" in used else ""
    return table.HEADER + "\n".join([*sorted(lines), variable, written, ""]) if hidden else ""


def stubs() -> dict[Path, str]:
    """The text of every stub as ruff writes it, by its path."""
    found = {}
    for name in sorted(modules(), key=lambda name: name == TENSOR):  # last: it has the named tuples
        package = any(each.startswith(f"{name}.") for each in modules())
        place = ROOT.joinpath(*name.split("."), "__init__" if package else "")
        path = Path(getattr(sys.modules[name], "__file__", place)).with_suffix(".pyi")
        if written := stub(sys.modules[name]):
            found[path] = written
    with tempfile.TemporaryDirectory() as folder:
        for path, written in found.items():
            place = Path(folder, path.relative_to(ROOT))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(written, encoding="utf-8")
        for command in ("check --select I,F401,UP --fix-only", "format"):
            ruff = [sys.executable, "-m", "ruff", *command.split(), "--quiet", "--config"]
            subprocess.run([*ruff, str(ROOT / "pyproject.toml"), folder], check=True)
        return {path: Path(folder, path.relative_to(ROOT)).read_text("utf-8") for path in found}


if __name__ == "__main__":
    made = stubs()
    for path in {*(ROOT / "minigrad/torch").rglob("*.pyi")} - {*made}:
        path.unlink()
    for path, content in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
