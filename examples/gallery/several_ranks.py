"""Several ranks.

An MLP whose hidden layer is divided over two ranks (tensor parallelism). Each rank has half of the
hidden units and computes a part of the output; `all_reduce` adds the parts. The picture joins the
forward passes of both ranks. Run it with `mpiexec -n 2 python examples/gallery/several_ranks.py`.
"""

import minigrad
from minigrad import distributed, viz

minigrad.random.seed(0)
world = distributed.world()
x, up, down = minigrad.randn(3, 4), minigrad.randn(4, 6), minigrad.randn(6, 2)

units = slice(world.rank * 6 // world.size, (world.rank + 1) * 6 // world.size)
up_part = up[:, units].clone().requires_grad_()  # the columns of this rank
down_part = down[units].clone().requires_grad_()  # and the rows that belong to them

with viz.trace() as traced:
    part = (x @ up_part).relu() @ down_part
    y = distributed.all_reduce(part)

own = traced.graph(y, x=x, up_part=up_part, down_part=down_part)
together = viz.all_ranks(own)  # all ranks call it
if world.rank == 0:
    viz.explore(together, path="several_ranks.html")
