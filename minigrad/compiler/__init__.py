"""A step that is recorded once, and replayed without tensors, nodes and plans.

The first two calls run the step and record a program. Later calls run the program.

- `program`: the record: values, instructions, and the listing that `print` shows.
- `step_trace`: the trace of a step, with what a replay needs besides, and what it refuses.
- `memories`: whose memory the values of a step are in, in which layout, and who sees it.
- `recording`: from a trace to a program; and whether two programs are one.
- `passes`: make a program smaller: values that nothing uses, equal instructions, memory.
- `replay`: a program as one Python function.
- `captured`: which program runs in a call.
"""

from minigrad.compiler.captured import CapturedStep, capture
from minigrad.compiler.program import CaptureError, Program

__all__ = ["CaptureError", "CapturedStep", "Program", "capture"]
