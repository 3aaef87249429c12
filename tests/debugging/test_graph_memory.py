"""`graph_memory`: what a graph keeps alive, by op."""

import minigrad
from minigrad.autograd import graph_memory


def test_memory_by_op_counts_what_is_shared_once() -> None:
    x = minigrad.ones(100, requires_grad=True)
    h = minigrad.exp(x)  # saves its output, 400 bytes
    y = (h * h).sum()  # saves the same memory
    memory = graph_memory(y)
    assert memory.ops == (("exp", 1, 400), ("multiply", 1, 0), ("sum", 1, 0))
    assert memory.leaf_nbytes == 0
    z = (x * minigrad.tanh(x.detach() + 1.0)).sum()
    assert graph_memory(z).nbytes == 400
    both = graph_memory(y, z)
    assert both.nbytes == 800
    assert sum(nodes for _, nodes, _ in both.ops) == 5


def test_memory_of_views_is_that_of_the_whole() -> None:
    x = minigrad.ones(10, 100, requires_grad=True)
    big = minigrad.exp(x.detach())
    w = minigrad.ones(100, requires_grad=True)
    assert graph_memory((w * big[0]).sum()).nbytes == 4000
    assert graph_memory((w * w).sum()).leaf_nbytes == 400
    assert "4.0 KiB" not in str(graph_memory(w.sum()))
    assert graph_memory(minigrad.ones(3)).ops == ()
