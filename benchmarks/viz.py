"""The time to draw graphs: layout and SVG text, without Graphviz.

Run `python benchmarks/viz.py`. Encoders of several sizes are drawn with all modules open, a large
one is drawn folded, as `to_svg()` does by default, and chains and wide graphs are drawn flat.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import argparse
import random
import time

import minigrad
from minigrad import nn, viz
from minigrad.viz import Graph


def encoder(layers: int) -> Graph:
    layer = nn.TransformerEncoderLayer(16, 4, 32)
    return viz.graph(nn.TransformerEncoder(layer, layers), minigrad.ones(2, 5, 16))


def chain(length: int) -> Graph:
    y = minigrad.ones(3, requires_grad=True)
    for _ in range(length):
        y = y.tanh()
    return viz.graph(y)


def tangle(count: int) -> Graph:
    """Each op reads two of the thirty before it."""
    made = [minigrad.ones(3, requires_grad=True)]
    for _ in range(count):
        one, two = random.choices(made[-30:], k=2)
        made.append(one * two)
    return viz.graph(sum(made[-30:], start=made[-31]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many (default 3)")
    rounds = parser.parse_args().rounds
    random.seed(0)
    print(f"{'graph':34}{'boxes':>8}{'seconds':>10}{'KB':>8}")
    for what, graph, depth in [
        ("encoder, 12 layers, open", encoder(12), 9),
        ("encoder, 50 layers, open", encoder(50), 9),
        ("encoder, 125 layers, folded", encoder(125), None),
        ("chain of 20,000", chain(20_000), None),
        ("tangle of 500", tangle(500), None),
        ("tangle of 2,000", tangle(2000), None),
    ]:
        taken = []
        for _ in range(rounds):
            begin = time.perf_counter()
            svg = graph.to_svg(depth)
            taken.append(time.perf_counter() - begin)
        boxes = len(graph.collapse(depth).nodes)
        print(f"{what:34}{boxes:8}{min(taken):10.3f}{len(svg) // 1000:8}", flush=True)


if __name__ == "__main__":
    main()
