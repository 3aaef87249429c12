"""Keeping freed memory in the process, so that new arrays can reuse it.

By default the C library returns a large freed array to the operating system. The next array of that
size is then mapped again, page by page, each filled with zeros first. A training step frees and
allocates the same arrays over and over. With glibc, two settings keep freed memory in the process;
memory is still reused only after it was freed.

The first op that is recorded makes these settings, for a bounded amount. Importing makes none.
"""

import sys

__all__ = ["keep_freed_memory"]

DEFAULT = 32
"""The mebibytes that are kept unless one asks for another amount."""

_settled = False

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of <malloc.h>
_MEBIBYTE = 1 << 20


def keep_freed_memory(mebibytes: int) -> bool:
    """Set how much freed memory the process keeps for new arrays.

    The setting holds for all memory that the process takes from the C library. The first op that is
    recorded sets 32, unless this was called before; a later call has the last word.

    Args:
        mebibytes: How much free memory to keep at the end of the heap. 0 returns it and restores
            the default threshold of 128 KiB.

    Returns:
        Whether it is possible: True with glibc, the C library of most Linux systems. It takes
        Python's ctypes, which few Pythons are built without.

    Raises:
        ValueError: The number is negative, or 2048 or more.

    Example:
        >>> import minigrad
        >>> possible = minigrad.keep_freed_memory(1024)
        >>> possible == minigrad.keep_freed_memory(0)
        True
    """
    global _settled
    if not 0 <= mebibytes < 2048:
        raise ValueError(f"keep_freed_memory: 0 to 2047 mebibytes expected, got {mebibytes}")
    _settled = True
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes  # a Python built without libffi has none
    except ModuleNotFoundError:
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt") or not hasattr(library, "gnu_get_libc_version"):
        return False
    usual = 128 * 1024
    # glibc's maximum is 32 MiB.
    library.mallopt(_MMAP_THRESHOLD, 32 * _MEBIBYTE if mebibytes else usual)
    library.mallopt(_TRIM_THRESHOLD, mebibytes * _MEBIBYTE or usual)
    if not mebibytes:
        library.malloc_trim(0)
    return True


def keep_by_default() -> None:
    """Set how much freed memory is kept, once in a process, unless somebody has."""
    if not _settled:
        keep_freed_memory(DEFAULT)
