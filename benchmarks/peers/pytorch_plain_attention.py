"""PyTorch with the attention kernel that computes and saves all weights."""

from _work import Arrays, Size, Task
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from peers import pytorch


def encoder(size: Size) -> Task:
    chosen = pytorch.encoder(size)

    def run() -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return chosen.run()

    def answer() -> Arrays:
        with sdpa_kernel(SDPBackend.MATH):
            return chosen.answer()

    return Task(run, answer)
