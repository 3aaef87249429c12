"""A whole training step, beside PyTorch and JAX: embeddings, four encoder layers, loss, AdamW.

Token and position embeddings, four post-norm layers with dropout 0.1, a linear head over 1,000
tokens, cross-entropy, the backward pass, AdamW and clearing the gradients; and the same for a small
perceptron. The libraries start from the same weights, each in its own process; they take turns (see
_turns.py). As dropout is
random, five more steps without it are compared: the command fails if the losses differ.
"""

from dataclasses import replace

import _options
from _comparison import setting
from _report import fail_if
from _work import SIZES, TINY
from encoder_layer import measure
from peers import TRAINED

LAYERS = 4
WIDTH = 32


def main() -> None:
    parser = _options.parser(__doc__, seconds=15)
    parser.add_argument("--sizes", default="SML", help="which of S, M and L (default SML)")
    options = _options.read(parser)
    sizes = TINY if options.quick else {name: SIZES[name] for name in options.sizes}
    print(setting(options), flush=True)
    width, faults = 4 if options.quick else WIDTH, []
    work = {f"MLP: batch 32, width {width}, 3 linear layers": ("perceptron", width)}
    for name, size in sizes.items():
        size = replace(size, depth=LAYERS)
        work[f"{name}: {size}"] = "training", size, 0.1
    for title, (kind, *arguments) in work.items():
        shown, found = measure(TRAINED, kind, *arguments, options=options)
        print(f"\n{title}\n\n{shown}", flush=True)
        faults += [f"{title}: {line}" for line in found]
    fail_if(faults)


if __name__ == "__main__":
    main()
