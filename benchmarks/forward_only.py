"""The overhead of a forward pass: a layer under `no_grad` beside plain NumPy.

Below is the same encoder layer, with the same weights, in plain NumPy. Both run in this process and
share one BLAS, so they take turns, with pauses in which its threads go to sleep. The command fails
if the outputs differ.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import _options

Run = Callable[[], Any]


def in_numpy(weights: dict[str, Any], x: Any, heads: int) -> Any:
    """One post-norm encoder layer."""
    import numpy as np

    def linear(x: Any, name: str) -> Any:
        out = x @ weights[f"layers.0.{name}weight"].T
        out += weights[f"layers.0.{name}bias"]
        return out

    def layer_norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = np.square(centred).mean(-1, keepdims=True)
        centred /= np.sqrt(variance + np.float32(1e-5))
        centred *= weights[f"layers.0.{name}weight"]
        centred += weights[f"layers.0.{name}bias"]
        return centred

    def softmax(x: Any) -> Any:
        x -= x.max(-1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(-1, keepdims=True)
        return x

    batch, length, width = x.shape
    rows = x.reshape(-1, width)  # one product is faster than one for each sequence
    projected = linear(rows, "self_attn.in_proj_").reshape(batch, length, 3, heads, -1)
    q, k, v = projected.transpose(2, 0, 3, 1, 4)  # each (N, H, L, E/H)
    weighted = softmax((q * (1 / math.sqrt(width // heads))) @ k.swapaxes(-1, -2)) @ v
    joined = weighted.transpose(0, 2, 1, 3).reshape(-1, width)
    rows = layer_norm(rows + linear(joined, "self_attn.out_proj."), "norm1.")
    hidden = linear(rows, "linear1.")
    np.maximum(hidden, 0, out=hidden)
    return layer_norm(rows + linear(hidden, "linear2."), "norm2.").reshape(x.shape)


def both(name: str) -> tuple[Run, Run]:
    """The layer of minigrad and the one in NumPy."""
    from _work import SIZES, TINY, encoder_input, encoder_weights
    from peers.ours import stack

    import minigrad

    size = {**SIZES, **TINY}[name]
    weights, start = encoder_weights(size), encoder_input(size)[0]
    model = stack(size, dropout=0.0)
    model.load_state_dict(weights)
    x = minigrad.tensor(start)

    def ours() -> Any:
        with minigrad.no_grad():
            return model(x)

    return ours, lambda: in_numpy(weights, start, size.heads)


def main() -> None:
    parser = _options.parser(__doc__, seconds=10)
    parser.add_argument("--sizes", default="SML", help="which of S, M and L (default SML)")
    options = _options.read(parser)

    from _report import disagreements, fail_if, machine, ratios, spread, table
    from _turns import take_turns
    from _worker import turn

    print(f"{machine(options.threads)}\n", flush=True)
    rows, faults = [], []
    for name in ["tiny"] if options.quick else options.sizes:
        ours, plain = both(name)
        apart, lines = disagreements({"output": ours().numpy()}, {"output": plain()})
        turns = {"minigrad": partial(turn, ours), "NumPy": partial(turn, plain)}
        taken = list(take_turns(turns, options.seconds, options.least).values())
        times = [spread([s * 1e3 for runs in rounds for s in runs]) for rounds in taken]
        rows.append([name, *times, spread(ratios(*taken)), f"{apart:.0e}"])
        faults += [f"{name}: {line}" for line in lines]
    what = ["minigrad ms (quartiles)", "NumPy ms (quartiles)", "ratio (quartiles)", "apart by"]
    print(table(["", *what], rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
