"""A training step that is captured once, and replayed without tensors, nodes and plans.

The first two calls run the step and write down a program. Later calls run the program.

- `program`: what is written down: values, instructions, and the listing that `print` shows.
- `recording`: watches a step that runs, and refuses what a replay would freeze.
- `passes`: make a program smaller: values that nothing uses, equal instructions, memory.
- `replay`: a program as one Python function.
- `steps`: `capture`, which chooses the program for a call.
"""

from minigrad.compiler.program import CaptureError, Program
from minigrad.compiler.steps import CapturedStep, capture

__all__ = ["CaptureError", "CapturedStep", "Program", "capture"]
