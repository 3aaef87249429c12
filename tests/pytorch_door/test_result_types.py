"""What functions say that they give is what PyTorch's own types say: a tensor, or several."""

import ast
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

FAMILIES = Path(__file__).resolve().parents[2] / "minigrad" / "tensors" / "functions"
PYTORCHS = Path(torch.__file__).parent / "_C" / "_VariableFunctions.pyi"


def results_of(*files: Path) -> dict[str, set[str]]:
    """What each function of some files gives, as annotated, in all overloads."""
    found: dict[str, set[str]] = {}
    for node in (node for file in files for node in ast.parse(file.read_text("utf-8")).body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            what = re.sub(r"\b_(?=int|bool|float|dtype)", "", ast.unparse(node.returns or node))
            what = what.replace("np.dtype[Any]", "dtype")
            several = re.match(r"tuple|list|torch\.return_types|(?!Tensor|Any)[A-Z]", what)
            found.setdefault(node.name, set()).add("several" if several else what)
    return {name: kinds - {"Any"} if len(kinds) > 1 else kinds for name, kinds in found.items()}


def test_results_are_what_pytorchs_own_types_say() -> None:
    own, other = results_of(*FAMILIES.glob("*.py")), results_of(PYTORCHS)
    both = own.keys() & other.keys()
    assert len(both) > 150
    assert {name: own[name] for name in both if own[name] != other[name]} == {"qr": {"Any"}}
