"""Exercise 23: checkpointing a chain of layers, with its memory and its work counted."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

DEPTH, EVERY = 14, 4


class Saved:
    """What a layer saves; an object of its own, so that it can be counted."""

    def __init__(self, y: np.ndarray, kept: np.ndarray) -> None:
        self.y, self.kept = y, kept


@dataclass
class Count:
    """The work and the memory of a run.

    Attributes:
        runs: How often a layer ran forward.
        saved: How many saved objects were alive at most.
        outputs: How many outputs of layers were alive at most.
    """

    runs: int = 0
    saved: int = 0
    outputs: int = 0
    _saved: weakref.WeakSet[Saved] = field(default_factory=weakref.WeakSet)
    _outputs: list[weakref.ref[np.ndarray]] = field(default_factory=list)

    def add(self, output: np.ndarray, saved: Saved) -> None:
        """Count what one layer has made."""
        self.runs += 1
        self._saved.add(saved)
        self._outputs = [one for one in self._outputs if one() is not None]
        self._outputs.append(weakref.ref(output))
        self.saved = max(self.saved, len(self._saved))
        self.outputs = max(self.outputs, len(self._outputs))


class CountedLayer:
    """The layer of the exercise, which tells a count what it makes."""

    def __init__(self, weight: np.ndarray, count: Count) -> None:
        self.weight, self.count = weight, count

    def forward(self, x: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, Saved]:
        """The output, and what the backward pass needs."""
        kept = random.random(x.shape) < 0.8
        y = np.tanh(x @ self.weight)
        saved, output = Saved(y, kept), y * kept
        self.count.add(output, saved)
        return output, saved

    def backward(self, g: np.ndarray, saved: Saved) -> np.ndarray:
        """The gradient of the input."""
        return np.asarray((g * saved.kept * (1 - saved.y**2)) @ self.weight.T)


def check(answer: Answer) -> None:
    """The numbers first, then the generator, then the work and the memory."""
    count = Count()
    numbers = np.random.default_rng(0)
    layers = [CountedLayer(numbers.normal(size=(5, 5)) / 1.5, count) for _ in range(DEPTH)]
    x, g = numbers.normal(size=(3, 5)), np.ones((3, 5))
    random = np.random.default_rng(23)
    inputs, states, saved = [], [], []
    output = x
    for layer in layers:
        inputs.append(output)
        states.append(random.bit_generator.state)
        output, one = layer.forward(output, random)
        saved.append(one)
    inputs.append(output)
    after = random.bit_generator.state

    def back(order: Sequence[int]) -> np.ndarray:
        """The gradient when the layers are taken in some order."""
        gradient = g
        for i in order:
            gradient = layers[i].backward(gradient, saved[i])
        return gradient

    def again(shift: int = 0, state: Mapping[str, Any] | None = None) -> np.ndarray:
        """The gradient when segments start from other inputs, or at other random numbers."""
        gradient, generator = g, np.random.default_rng(23)
        generator.bit_generator.state = after
        for start in reversed(range(0, DEPTH, EVERY)):
            segment, here, kept = layers[start : start + EVERY], inputs[start + shift], []
            if state is not None or shift:
                generator.bit_generator.state = state or states[start]
            for layer in segment:
                here, one = layer.forward(here, generator)
                kept.append(one)
            for layer in reversed(segment):
                gradient = layer.backward(gradient, kept.pop())
        return gradient

    want = back(range(DEPTH)[::-1])
    segments = [range(DEPTH)[start : start + EVERY] for start in range(0, DEPTH, EVERY)]
    mistakes = {
        "last segment lost": back(range(DEPTH // EVERY * EVERY)[::-1]),
        "order in a segment": back([i for part in segments[::-1] for i in part]),
        "order of segments": back([i for part in segments for i in part[::-1]]),
        "wrong input": again(shift=1),
        "other masks": again(),
        "same masks": again(state=states[0]),
    }
    wanted_output = output
    inputs, saved = [], []  # what is counted below is only the learner's
    del one, output
    count.runs = count.saved = count.outputs = 0

    random = np.random.default_rng(23)
    result = answer.checkpointed_gradient(layers, x, g, random, EVERY)
    mine, gradient = answer.unpack(result, "output", "grad_x")
    answer.compare("output", mine, wanted_output, {"output overwritten": lambda mine: True})
    answer.compare("grad_x", gradient, want, mistakes)
    answer.require(
        random.bit_generator.state == after,
        f"After {DEPTH} layers the generator has another state than after plain_gradient.",
        "generator",
    )  # fmt: skip
    answer.require(
        count.runs <= 2 * DEPTH,
        f"Layers ran forward {count.runs} times; for {DEPTH} layers, {2 * DEPTH} is enough.",
        "too many runs",
    )  # fmt: skip
    answer.require(
        count.saved <= EVERY + 2,
        f"What {count.saved} of {DEPTH} layers save was in memory at the same time; with "
        f"every={EVERY} it should be {EVERY}.",
        "everything saved",
    )  # fmt: skip
    limit = DEPTH // EVERY + EVERY + 3
    answer.require(
        count.outputs <= limit,
        f"The outputs of {count.outputs} of {DEPTH} layers were in memory at the same time; with "
        f"every={EVERY} it should be {limit} at most.",
        "every input",
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What the learner's function computes of x, on two layers of the learner's file."""
    layers = [answer.Layer(np.eye(3)) for _ in range(2)]
    random = np.random.default_rng(0)
    return traced(
        lambda x, g: answer.checkpointed_gradient(layers, x, g, random, 1),
        'output grad_x',
        x=np.ones((2, 3)), g=np.ones((2, 3)),
    )  # fmt: skip


EXERCISE = Exercise(
    title="checkpointing",
    chapter="memory",
    hints=(
        "Write the forward loop first: which layers begin a segment? Keep only what is needed to "
        "start there again: the input and the state of the generator.",
        "Go through these starts in reverse. For each, set the generator back, run the layers of "
        "the segment keeping what they save, and then go back through them as plain_gradient "
        "does. At the very end, set the generator to where the first run has left it.",
        "Forward: if i % every == 0, append (i, x, random.bit_generator.state). Backward: for i, "
        "x, state in reversed(starts), the segment is layers[i : i + every], which is shorter at "
        "the end by itself; then the loop of plain_gradient.",
    ),
    why="With n layers and segments of s, memory holds n / s inputs and s saved layers: for s = "
    "sqrt(n) both are sqrt(n), for one more forward pass. A dropout mask of the second run must be "
    "that of the first, or the gradient belongs to another function than the output. minigrad's "
    "checkpoint notes the state of its generator in the same way, and gives gradients that are "
    "equal bit by bit.",
    diagnoses={
        "output overwritten": "The output is that of the first run. Was its name used again in "
        "the second?",
        "last segment lost": "The last layers are missing in the backward pass: the number of "
        "layers is not a multiple of `every`, and the last segment is shorter.",
        "order in a segment": "Inside a segment the backward pass goes forwards. It goes from the "
        "last layer of the segment to the first.",
        "order of segments": "The segments are taken from the first to the last. The gradient "
        "comes from the end.",
        "wrong input": "The segments start from the output of their first layer. Keep x before "
        "the layer runs.",
        "other masks": "The second run has drawn other random numbers, and so other dropout "
        "masks: this is the gradient of another function. Set the generator back before it.",
        "same masks": "Every segment was run from the same state. Each needs the state that the "
        "generator had at its own start.",
        "generator": "The next batch would get random numbers that were used already. Note the "
        "state after the first run, and set it again at the end.",
        "too many runs": "Segments are run from the beginning of the chain. That makes the work "
        "grow with the square of the depth: start from the kept input of the segment.",
        "everything saved": "The gradient is right, but what the layers save is kept for more than "
        "one segment: that is the memory that checkpointing avoids.",
        "every input": "The gradient is right, but the input of every layer is kept, not of each "
        "segment.",
    },
    wrong=(
        Wrong(
            "output overwritten",
            ("output, end = x, random", "end = random"),
            ("return output, g\n", "return x, g\n"),
        ),
        Wrong(
            "last segment lost",
            (
                "for i, x, state in reversed(starts):",
                "for i, x, state in reversed(starts[: len(layers) // every]):",
            ),
        ),
        Wrong(
            "order in a segment",
            (
                "for layer in reversed(segment):\n            g = layer.backward(g, kept.pop())",
                "for layer in segment:\n            g = layer.backward(g, kept.pop(0))",
            ),
        ),
        Wrong("order of segments", ("in reversed(starts):", "in starts:")),
        Wrong(
            "wrong input",
            (
                "starts.append((i, x, random.bit_generator.state))",
                "state = random.bit_generator.state",
            ),
            (
                "        x = layer.forward(x, random)[0]\n",
                "        x = layer.forward(x, random)[0]\n"
                "        if i % every == 0:\n            starts.append((i, x, state))\n",
            ),
        ),
        Wrong("other masks", ("        random.bit_generator.state = state\n", "")),
        Wrong(
            "same masks",
            (
                "        random.bit_generator.state = state\n",
                "        random.bit_generator.state = starts[0][2]\n",
            ),
        ),
        Wrong("generator", ("    random.bit_generator.state = end\n", "")),
        Wrong(
            "too many runs",
            (
                "starts.append((i, x, random.bit_generator.state))",
                "starts.append((i, x, random.bit_generator.state))\n            first = starts[0]",
            ),
            (
                "        random.bit_generator.state = state\n",
                "        x, random.bit_generator.state = first[1:]\n"
                "        for layer in layers[:i]:\n            x = layer.forward(x, random)[0]\n",
            ),
        ),
        Wrong(
            "everything saved",
            (
                "    starts = []\n",
                "    return plain_gradient(layers, x, g, random)\n    starts = []\n",
            ),
        ),
        Wrong(
            "every input",
            ("    starts = []\n", "    starts, inputs = [], []\n"),
            (
                "        x = layer.forward(x, random)[0]\n",
                "        inputs.append(x)\n        x = layer.forward(x, random)[0]\n",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
