"""`minigrad.nn` in a checkout without links, as Git makes it on Windows; also an unpacked sdist.

There nn/ stands beside minigrad/, and ``minigrad/nn``, elsewhere a link to it, is a file of text or
is missing. Importing this module lets Python find that one package. Type checkers do not.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent.parent / "nn"


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "minigrad.nn":
            return None
        return spec_from_file_location(
            fullname, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)]
        )


sys.meta_path.append(_Finder())
