"""Errors of ops and layers, which name the module call that they were raised in."""

from minigrad.autograd.mode import located


def type_error(message: str) -> TypeError:
    """A TypeError whose message names the module call: see `located`."""
    return TypeError(located(message))


def value_error(message: str) -> ValueError:
    """A ValueError whose message names the module call: see `located`."""
    return ValueError(located(message))
