"""One record of a run: what ran, what it computed with, what it wrote, and what left it.

Read `steps` (the data), `identity` (which value a tensor holds), `record` (the trace) and `lines`
(the lines of the user's program).
"""

from minigrad.tracing.record import Trace
from minigrad.tracing.steps import Step, Value

__all__ = ["Step", "Trace", "Value"]
