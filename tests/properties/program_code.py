"""A program as Python code, which runs on its own and holds itself against differences."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np
from programs import IN_PLACE, Program, Step, weights

FRAME = """\
import numpy as np

from minigrad import ops, tensor
from minigrad.autograd import grad
from minigrad.checking import directional_derivatives


{weights}

def program({names}):
{body}


def gradient(*inputs):
    slopes = grad(program(*inputs), inputs, create_graph=True, allow_unused=True)
    return [slope for slope in slopes if slope is not None]


inputs = [tensor(array, requires_grad=True) for array in (
{arrays})]
for function in (program, gradient):
    for engine, differences in directional_derivatives(function, inputs, directions=3):
        print(f"{{function.__name__}}: engine {{engine:.9g}}, differences {{differences:.9g}}")
"""


def source(program: Program) -> str:
    """The code of a program, its inputs, and a comparison of its derivatives with differences."""
    names = ", ".join(f"v{place}" for place in range(len(program.inputs)))
    body = []
    for step, start in zip(program.steps, program.starts, strict=False):
        body += code(step, start)
    terms = [f"(v{place} * weights(v{place}.shape)).sum()" for place in program.outputs]
    body.append(f"return {' + '.join(terms)}")
    return FRAME.format(
        names=names,
        body=textwrap.indent("\n".join(body), "    "),
        arrays="".join(f"    {spelled(array)},\n" for array in program.inputs),
        weights=inspect.getsource(weights),
    )


def spelled(value: Any) -> str:
    """Python code for a static value."""
    if isinstance(value, np.ndarray):
        usual = value.size and value.dtype in (np.bool_, np.int64, np.float64)
        dtype = "" if usual else f", dtype={value.dtype.name!r}"
        shape = "" if value.size else f".reshape({value.shape})"
        return f"np.array({value.tolist()!r}{dtype}){shape}"
    if isinstance(value, tuple):
        return f"({''.join(spelled(part) + ', ' for part in value).rstrip()})" if value else "()"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    return repr(value)


def code(step: Step, start: int) -> list[str]:
    """Python code for a step whose first result is at `start`."""
    first, *others = [spelled(arg) for arg in step.args]
    others += [f"{name}={spelled(value)}" for name, value in step.keywords.items()]
    if step.op == "write":
        return [f"{first}[{others[0]}] = {others[1]}", f"v{start} = {first}"]
    names = "".join(f"v{start + k}, " for k in range(step.results))
    targets = names if step.several is not None else names.removesuffix(", ")
    if step.op == "getitem":
        return [f"{targets.rstrip()} = {first}[{others[0]}]"]
    if step.op in IN_PLACE:
        return [f"{targets} = {first}.{step.op}({', '.join(others)})"]
    return [f"{targets.rstrip()} = ops.{step.op}({', '.join([first, *others])})"]
