"""``python -m minigrad.torch train.py --epochs 3`` runs a file in which `torch` is this package.

``import torch`` in that process, and in the libraries that it imports, gives `minigrad.torch`.
Nothing is installed or left behind. PyTorch is not imported, even where it is installed.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from minigrad.autograd import dtype_class
from minigrad.nn import Module, Parameter
from minigrad.tensors.creation import Size
from minigrad.tensors.storage import TypedStorage
from minigrad.tensors.tensor import Tensor
from minigrad.torch.absent import UNKNOWN, why_not

USAGE = """usage: python -m minigrad.torch FILE [ARGUMENTS ...]
       python -m minigrad.torch -m MODULE [ARGUMENTS ...]

Runs a Python file, or a module, in which torch is minigrad.torch; so is torchvision, if it is not
installed: its transforms, datasets and utils."""


HOMES = {
    Tensor: "torch",
    Size: "torch",
    Parameter: "torch.nn.parameter",
    dtype_class.dtype: "torch",
    TypedStorage: "torch.storage",
}
"""Where PyTorch has the classes whose names programs print."""


class Door(MetaPathFinder, Loader):
    """Finds `torch` and its modules in this package."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of torch or of torchvision; None for others."""
        package = fullname.partition(".")[0]
        if package not in ("torch", "torchvision"):
            return None
        if package == "torchvision" and PathFinder.find_spec(package):
            raise ImportError(
                "torchvision is installed here, and it needs PyTorch itself: uninstall it, or run "
                "this in an environment without it, where minigrad has its transforms and datasets"
            )
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of this package."""
        try:
            module = importlib.import_module(f"minigrad.{spec.name}")
        except ModuleNotFoundError as error:
            if error.name != f"minigrad.{spec.name}":
                raise
            why = str(error).partition(": ")[2] or why_not(f"minigrad.{spec.name}")
            told = f"minigrad.torch has no module {spec.name!r}: {why}"
            raise ModuleNotFoundError(told, name=spec.name) from None
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it ran when it was imported. It keeps its own name and place."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def take_the_name() -> None:
    """Have dtypes, sizes and classes print as those of `torch`."""
    dtype_class.shown_as = "torch"
    for kind, module in HOMES.items():
        kind.__module__ = module


def main(arguments: Sequence[str]) -> int:
    """Run a file or a module with its arguments.

    Args:
        arguments: Those after ``python -m minigrad.torch``.

    Returns:
        The exit code.
    """
    first, *rest = arguments or ["--help"]
    if first in ("-h", "--help") or (first == "-m" and not rest):
        print(USAGE)
        return 0 if first in ("-h", "--help") else 2
    sys.meta_path.insert(0, Door())
    take_the_name()
    if first != "-m" and not Path(first).exists():
        print(f"minigrad.torch: there is no file {first}", file=sys.stderr)
        return 2
    try:
        if first == "-m":
            sys.argv = rest
            sys.path.insert(0, "")
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [first, *rest]
            sys.path.insert(0, str(Path(first).resolve().parent))
            runpy.run_path(first, run_name="__main__")
    except AttributeError as error:  # a class with `__getattr__` would read all attributes slower
        known = isinstance(error.obj, (Tensor, Module))
        if known and (why := why_not(error.name or "")) != UNKNOWN:
            error.add_note(f"minigrad has no {error.name!r}: {why}")
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
