"""Several ranks.

An MLP whose hidden layer is divided over two ranks (tensor parallelism). Each rank has half of the
hidden units. In the forward pass, `sum_of_parts` adds the two parts of the output. In the backward
pass, `copy_to_parts` adds the two gradients of `x`: the ranks run the same loss, so each weight has
the gradient that it would have on one rank. The picture joins the passes of both ranks. Run it with
`mpiexec -n 2 python examples/gallery/several_ranks.py`.
"""

import minigrad
from minigrad import distributed, viz

minigrad.random.seed(0)
world = distributed.world()
x, up, down = minigrad.randn(3, 4), minigrad.randn(4, 6), minigrad.randn(6, 2)
x.requires_grad_()

units = slice(world.rank * 6 // world.size, (world.rank + 1) * 6 // world.size)
up_part = up[:, units].clone().requires_grad_()  # the columns of this rank
down_part = down[units].clone().requires_grad_()  # and the rows that belong to them

with viz.trace() as traced:
    part = (distributed.copy_to_parts(x) @ up_part).relu() @ down_part
    y = distributed.sum_of_parts(part)
    loss = (y * y).mean()
    loss.backward()

own = traced.graph(loss, x=x, up_part=up_part, down_part=down_part)
together = viz.all_ranks(own)  # all ranks call it
if world.rank == 0:
    viz.explore(together, path="several_ranks.html")
