"""PyTorch with `torch.compile`, which needs a C++ compiler."""

import torch
import torch._inductor.config
from _work import Size, Task

from peers import pytorch

torch._inductor.config.compile_threads = 1  # its pool of processes would outlive the benchmark
torch._inductor.config.force_disable_caches = True  # kernels for other instructions may be there


def encoder(size: Size) -> Task:
    return pytorch.encoder(size, torch.compile)


def training(size: Size, dropout: float) -> Task:
    return pytorch.training(size, dropout, prepared=torch.compile)


def perceptron(width: int) -> Task:
    return pytorch.perceptron(width, torch.compile)
