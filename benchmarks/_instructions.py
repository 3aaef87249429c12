"""The instruction sets of the processor, and how to hold every library to AVX2.

A processor with AVX-512 can be measured in two modes: as it is, and as if it had AVX2 only. Each
library has a setting of its own for that, an environment variable that is read when it is loaded.
As a command, this prints the modes that this machine can measure, a line each.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

NATIVE, AVX2 = "native", "avx2"
SETTINGS = {
    # Names that this NumPy or this processor does not have are ignored.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL "
    "AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
}


def modes(listing: Path = Path("/proc/cpuinfo")) -> list[str]:
    """The modes that can be measured here: `AVX2` too where the processor has more than that."""
    flags = listing.read_text() if listing.exists() else ""
    return [NATIVE, AVX2] if "avx512f" in flags else [NATIVE]


def hold(mode: str) -> None:
    """Let this process and its children load libraries in a mode."""
    if mode == AVX2:
        os.environ.update(SETTINGS)


def title() -> str:
    """The instruction set that this process was told to use, for people."""
    if _held():
        return "held to AVX2"
    return "AVX-512" if AVX2 in modes() else "no AVX-512"


def _held() -> bool:
    return all(os.environ.get(name) == value for name, value in SETTINGS.items())


def check() -> None:
    """Make sure that the libraries of this process obey `SETTINGS`, where that can be asked.

    Raises:
        RuntimeError: NumPy, OpenBLAS or PyTorch uses AVX-512 all the same.
    """
    if not _held():
        return
    for name, found in _found():
        if found not in ("AVX2", "Haswell"):
            raise RuntimeError(f"{name} is not held to AVX2: it uses {found}")


def _found() -> Iterator[tuple[str, str]]:
    """The instructions that each loaded library says it uses."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
    from threadpoolctl import threadpool_info

    wide = [name for name in __cpu_dispatch__ if name.startswith(("AVX512", "X86_V4"))]
    yield "NumPy", next((name for name in wide if __cpu_features__[name]), "AVX2")
    for library in threadpool_info():
        if library["internal_api"] == "openblas":
            yield "OpenBLAS", library["architecture"]
    if "torch" in sys.modules:
        yield "PyTorch", sys.modules["torch"].backends.cpu.get_cpu_capability()


if __name__ == "__main__":
    print("\n".join(modes()))
