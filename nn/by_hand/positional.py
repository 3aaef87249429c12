"""Positional encodings, and causal and padding masks."""

import numpy as np

from minigrad.nn.by_hand.attention_core import check_shapes

__all__ = [
    "add_positional_encoding", "create_causal_mask", "create_padding_mask",
    "learned_positional_encoding", "sinusoidal_encoding",
]  # fmt: skip


def sinusoidal_encoding(max_length: int, d_model: int) -> np.ndarray:
    """Generate sinusoidal positional encodings.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)),
    PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Each pair of columns is a point on a circle; the first turns once in 2π positions, the last in
    almost 20000π. A step of k positions turns every pair by an angle that depends on k alone, so
    PE(pos + k) is a linear map of PE(pos), the same for all pos.

    Source: Vaswani et al., "Attention is all you need", 2017, section 3.5.

    Args:
        max_length: Maximum sequence length.
        d_model: Model dimension; even.

    Returns:
        Encodings, shape (max_length, d_model).

    Example:
        >>> from minigrad.nn.by_hand import sinusoidal_encoding
        >>> pe = sinusoidal_encoding(100, 512)
        >>> pe.shape
        (100, 512)
    """
    if d_model % 2:
        raise ValueError(f"sinusoidal_encoding: d_model must be even, got {d_model}")
    positions = np.arange(max_length)[:, None]  # (max_length, 1)
    wavelengths = 10000.0 ** (np.arange(0, d_model, 2) / max(d_model, 1))  # (d_model / 2,)
    angles = positions / wavelengths  # (max_length, d_model / 2)
    encodings = np.empty((max_length, d_model))
    encodings[:, 0::2] = np.sin(angles)
    encodings[:, 1::2] = np.cos(angles)
    return encodings


def add_positional_encoding(x: np.ndarray, pe: np.ndarray) -> np.ndarray:
    """Add positional encoding to input embeddings.

    Args:
        x: Input embeddings, shape (batch, seq_len, d_model).
        pe: Positional encodings, shape (max_len, d_model).

    Returns:
        x + pe[:seq_len], same shape as x.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import add_positional_encoding, sinusoidal_encoding
        >>> x = np.zeros((2, 10, 512))
        >>> add_positional_encoding(x, sinusoidal_encoding(100, 512)).shape
        (2, 10, 512)
    """
    positions = pe[: x.shape[-2]]  # (seq_len, d_model)
    check_shapes("add_positional_encoding", pe=(positions, x.shape[-2:]))
    return x + positions


def learned_positional_encoding(max_length: int, d_model: int) -> np.ndarray:
    """Initialize learned positional embeddings.

    Returns:
        Embeddings, shape (max_length, d_model), initialized randomly: normally distributed with
        standard deviation 0.02.

    Example:
        >>> from minigrad.nn.by_hand import learned_positional_encoding
        >>> learned_positional_encoding(100, 512).shape
        (100, 512)
    """
    return np.random.default_rng().normal(0.0, 0.02, size=(max_length, d_model))


def create_causal_mask(seq_length: int) -> np.ndarray:
    """Create causal (look-ahead) mask for autoregressive attention.

    Returns:
        Mask, shape (seq_length, seq_length). Lower triangular matrix (True below/on diagonal).

    Example:
        >>> from minigrad.nn.by_hand import create_causal_mask
        >>> mask = create_causal_mask(4)
        >>> mask
        array([[ True, False, False, False],
               [ True,  True, False, False],
               [ True,  True,  True, False],
               [ True,  True,  True,  True]])
    """
    return np.tril(np.ones((seq_length, seq_length), bool))


def create_padding_mask(lengths: np.ndarray, max_length: int) -> np.ndarray:
    """Create padding mask from sequence lengths.

    Multi-head attention takes it as ``mask[:, None, None, :]``. In `minigrad.nn` a padding mask has
    the opposite meaning: ``key_padding_mask=~mask``.

    Args:
        lengths: Actual sequence lengths, shape (batch,).
        max_length: Maximum sequence length.

    Returns:
        Mask, shape (batch, max_length): True for real tokens, False for padding.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import create_padding_mask
        >>> mask = create_padding_mask(np.array([3, 2]), max_length=4)
        >>> mask
        array([[ True,  True,  True, False],
               [ True,  True, False, False]])
    """
    lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu" and lengths.size:
        raise TypeError(f"create_padding_mask: integer lengths expected, got {lengths.dtype}")
    check_shapes("create_padding_mask", lengths=(lengths, (lengths.size,)))
    wrong = lengths[(lengths < 0) | (lengths > max_length)]
    if wrong.size:
        raise ValueError(f"create_padding_mask: lengths 0 to {max_length} expected, got {wrong[0]}")
    return np.arange(max_length) < lengths[:, None]  # (max_length,) < (batch, 1)
