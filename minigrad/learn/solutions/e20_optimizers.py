"""Exercise 20: optimizers.

The gradient says how the loss changes. An optimizer makes a step of it. Both functions return new
arrays and leave the given ones alone.

1. Momentum. A velocity v remembers earlier gradients, and the step follows the velocity:

       v = momentum * v + g              p = p - lr * v

2. AdamW. It divides each step by the usual size of that gradient, so that every parameter moves
   by about lr. m and v are running means of g and of g squared, and start at 0:

       m = beta1 * m + (1 - beta1) * g           v = beta2 * v + (1 - beta2) * g * g

   Both are too small at first, because they started at 0. The corrected ones are
   m / (1 - beta1**t) and v / (1 - beta2**t), where t is the number of this step: 1, 2, 3 ...

       p = p - lr * corrected m / (sqrt(corrected v) + eps)

   Weight decay is decoupled (that is the W): it takes lr * decay * p away from the old p, and
   does not enter g, m or v.
"""

import numpy as np


def momentum_step(p, g, v, lr=0.1, momentum=0.9):
    """The parameter and the velocity after a step."""
    # gap: return p, v
    v = momentum * v + g
    return p - lr * v, v
    # end of gap


def adamw_step(p, g, m, v, t, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    """The parameter and both running means after step t."""
    # gap: return p, m, v
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    step = m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + eps)
    return p - lr * decay * p - lr * step, m, v
    # end of gap


if __name__ == "__main__":  # try things out here: python 20_optimizers.py
    p, m, v = np.array([5.0, -3.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 501):
        p, m, v = adamw_step(p, 2 * p, m, v, t, lr=0.05)  # the loss is the sum of p squared
    print(p)
