"""The error of a file that cannot be loaded."""


class LoadError(ValueError):
    """A file is damaged or of an unsupported format; the message names it and the reason.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.npz")
        >>> _ = path.write_text("no weights")
        >>> try:
        ...     minigrad.load(path)
        ... except minigrad.io.LoadError as error:
        ...     print(str(error).replace(str(path), path.name))
        load: weights.npz: not an npz file (File is not a zip file)
    """
