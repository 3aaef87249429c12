"""Parts of models beside PyTorch: layers, attention, a large vocabulary, an optimizer.

Layers (convolution, pooling, normalization, recurrence) have the same arguments and weights in both
libraries; forward and backward. So have attention without projections at several lengths, and an
embedding with a cross-entropy over the same table of words, and steps that read few of its rows.
AdamW updates four square layers.

Each library has its own process, and they take turns (see _turns.py). The outputs and all gradients
are compared: the command fails if they differ.
"""

import _options
from _comparison import compare, setting
from _report import disagreements, fail_if, ratios, spread, table
from _work import ATTENTION, LAYERS, WIDTHS, WORDS, Layer, Size
from peers import OURS, PYTORCH

Row = tuple[str, str, Layer | Size | int | str]
"""The measured layer, the function of a peer that does it, and its argument."""


def rows_of(
    layers: list[Layer], attention: list[Size], words: int, widths: tuple[int, ...]
) -> list[Row]:
    """The rows of the table."""
    return [
        *((str(layer), "layer", layer) for layer in layers),
        *(
            (f"attention, {s.batch} × {s.heads} heads, {s.length:,} tokens", "attention", s)
            for s in attention
        ),
        (f"embedding and cross-entropy, {words:,} words", "words", words),
        *(
            (f"256 of 50,000 words, sparse, {name}", "table", name)
            for name in ("SGD", "SparseAdam")
        ),
        *((f"AdamW, width {width:,}", "adamw", width) for width in widths),
    ]


ROWS = rows_of(LAYERS, ATTENTION, WORDS, WIDTHS)
QUICK = rows_of(
    [Layer("Conv1d", (2, 4, 3), {"groups": 2}, (2, 2, 9))], [Size(2, 5, 8, 2, 0)], 20, (3,)
)
HEADINGS = ["", "minigrad ms (quartiles)", "÷ PyTorch (quartiles)", "apart by"]


def main() -> None:
    parser = _options.parser(__doc__, seconds=3)
    options = _options.read(parser)
    print(f"{setting(options)}\n", flush=True)
    rows, faults = [], []
    for what, work, argument in QUICK if options.quick else ROWS:
        results = compare([OURS, PYTORCH], work, argument, options=options)
        ours, theirs = results[OURS.title], results.get(PYTORCH.title)
        row = [what, spread(ours.per(1e-3)), "not installed", ""]
        if theirs is not None:
            apart, lines = disagreements(ours.answer, theirs.answer)
            faults += [f"{what}: {line}" for line in lines]
            row[2:] = [spread(ratios(ours.rounds, theirs.rounds)), f"{apart:.0e}"]
        rows.append(row)
    print(table(HEADINGS, rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
