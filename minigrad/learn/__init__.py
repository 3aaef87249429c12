"""Exercises that answer: write the rules yourself, and be told at once of mistakes.

At a prompt `python -m minigrad learn` lists them; in a notebook a cell calls `check`.
"""

from __future__ import annotations

from typing import Any

from minigrad.learn.running import Result, check_names
from minigrad.learn.statement import exercise

__all__ = ["Result", "check", "hint", "solution"]


def check(number: int | str, answer: Any) -> Result:
    """Check an answer that is written in a notebook.

    Args:
        number: The number of the exercise, such as 7 or ``"07"``.
        answer: What you wrote: a function, several in a list, or ``globals()``.

    Returns:
        The result, which shows itself; ``.right`` says whether the answer is right.

    Raises:
        ValueError: There is no exercise of this number.

    Example:
        >>> from minigrad import learn
        >>> def matmul_backward(g, a, b):
        ...     return g @ b, a @ g
        >>> result = learn.check(7, matmul_backward)
        >>> result.right, result.diagnosis
        (False, 'transpose')
    """
    if not isinstance(answer, dict):
        several = answer if isinstance(answer, (list, tuple)) else [answer]
        answer = {one.__name__: one for one in several}
    return check_names(exercise(number), answer)


def hint(number: int | str, which: int = 1) -> str:
    """Return one of the three hints of an exercise.

    Args:
        number: The number of the exercise.
        which: 1, where to look; 2, what to do; 3, nearly the code.

    Returns:
        The hint.

    Raises:
        ValueError: There is no such exercise or hint.

    Example:
        >>> from minigrad import learn
        >>> learn.hint(7)[:42]
        'Write the derivative of one entry first: a'
    """
    this = exercise(number)
    if which not in (1, 2, 3):
        raise ValueError(f"hint: there are hints 1, 2 and 3; got {which!r}")
    return this.hints[which - 1]


def solution(number: int | str) -> str:
    """Return the solution of an exercise, as a text.

    Args:
        number: The number of the exercise.

    Returns:
        The text of the file.

    Raises:
        ValueError: There is no exercise of this number.

    Example:
        >>> from minigrad import learn
        >>> "return g @ b.T, a.T @ g" in learn.solution(7)
        True
    """
    return exercise(number).solution
