"""A wrong rule, and gradcheck.

A rule of your own is compared with finite differences, and the difference is shown.
"""

import minigrad
from minigrad.autograd import Function, gradcheck


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x  # wrong: the derivative is 2 x


x = minigrad.tensor([1.0, -2.0, 3.0], requires_grad=True, dtype="float64")
gradcheck(Square.apply, [x])
