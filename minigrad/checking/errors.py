"""The errors of a gradient check."""


class GradientError(AssertionError):
    """A gradient and its finite difference do not agree.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import gradcheck, primitive
        >>> @primitive
        ... def twice(x):
        ...     return x + x
        >>> twice.defvjp(x=lambda g: g)  # it should be 2 * g
        >>> x = minigrad.tensor(1.0, dtype=minigrad.float64, requires_grad=True)
        >>> gradcheck(twice, x)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        minigrad.checking.errors.GradientError: gradcheck: input 0 of shape () at index \
(): analytic 1, numeric 2... (the worst of 1 of 1); the rule of twice for x is wrong by itself, \
called at ...
    """


class NotMeasurableError(GradientError):
    """A finite difference tells nothing of the function here: whether a gradient is right is open.

    The input is at the border of the domain, so that a step away the function is not finite or
    raises an error; or the differences do not settle. Move the input.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(0.0, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradcheck(minigrad.sqrt, x)
        Traceback (most recent call last):
        ...
        minigrad.checking.errors.NotMeasurableError: gradcheck: not measurable here, move the \
input: input 0 of shape () at index (): it is at the border of its domain: a step away it is not \
finite (analytic inf) (1 of 1)
    """


class NotDifferentiableError(NotMeasurableError):
    """The function has a kink or a jump: there is no derivative to compare a gradient with.

    A function whose outputs have another shape nearby has none either.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(0.0, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradcheck(minigrad.relu, x)
        Traceback (most recent call last):
        ...
        minigrad.checking.errors.NotDifferentiableError: gradcheck: the function is not \
differentiable here, move the input: input 0 of shape () at index (): its slope is 0 from the \
left and 1 from the right (analytic 0) (1 of 1)
    """
