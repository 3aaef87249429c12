"""Training at the shape of BERT-base: 12 layers, width 768, 12 heads, 3,072 hidden units.

Whole training steps as in training_step.py, in minigrad and PyTorch: with 4 sequences of 128 tokens
and with one of 2,048, each without checkpoints and with a checkpoint at each layer. Each has its
own process, one after the other, so that it has all the memory. The command fails if minigrad needs
more than 8 GiB, or if the losses of five steps without dropout differ.
"""

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, significant, spread, table
from _work import TINY, Size
from peers import OURS, PYTORCH

SIZES = [Size(4, 128, 768, 12, 3072, depth=12), Size(1, 2048, 768, 12, 3072, depth=12)]
MOST = 8 * 2**30


def main() -> None:
    parser = _options.parser(__doc__, seconds=0)
    options = _options.read(parser)
    options.least = 3  # a step takes seconds
    print(f"{machine(options.threads)}\n", flush=True)
    rows, faults = [], []
    for size in TINY.values() if options.quick else SIZES:
        answers = []
        for peer in (OURS, PYTORCH):
            for checkpointed in (False, True):
                if not peer.installed:
                    continue
                arguments = ("training", size, 0.1, checkpointed)
                kept = "the inputs of layers" if checkpointed else "everything"
                print(f"{size.batch} × {size.length}, {peer.title}, keeping {kept} ...", flush=True)
                result = compare([peer], *arguments, options=options)[peer.title]
                answers.append(result.answer)
                memory = result.memory
                rows.append([
                    f"{size.batch} × {size.length}", peer.title, kept, spread(result.per(1)),
                    "-" if memory is None else significant(memory / 2**30),
                ])  # fmt: skip
                where = f"{peer.title}, {size}, keeping {kept}"
                if peer is OURS and memory is not None and memory > MOST:
                    faults.append(f"{where}: {memory / 2**30:.1f} GiB, more than 8")
                faults += [f"{where}: {s}" for s in disagreements(answers[0], result.answer)[1]]
    print()
    print(table(["tokens", "", "kept", "seconds a step (quartiles)", "peak GiB"], rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
