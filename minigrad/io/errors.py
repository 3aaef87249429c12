"""The error of a file that cannot be loaded."""

from __future__ import annotations


class LoadError(ValueError):
    """A file is damaged, or is none that is loaded here; the message names it and says why.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.npz")
        >>> _ = path.write_text("no weights")
        >>> try:
        ...     minigrad.load(path)
        ... except minigrad.io.LoadError as error:
        ...     print(str(error).replace(str(path), path.name))
        load: weights.npz: no npz file (File is not a zip file)
    """
