"""Makes `minigrad.nn` importable where ``minigrad/nn`` is not a symbolic link.

Git on Windows may check the link out as a text file, and an sdist has none. Importing this module
lets Python find this one package in the folder nn/ beside minigrad/. Type checkers do not see it.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parents[2] / "nn"


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if fullname != "minigrad.nn":
            return None
        return spec_from_file_location(
            fullname, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)]
        )


sys.meta_path.append(_Finder())
