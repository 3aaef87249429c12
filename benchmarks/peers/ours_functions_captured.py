"""minigrad: function transforms, captured: replayed from the third call on."""

from _work import Task

from minigrad import capture
from peers import ours_functions


def transform(name: str, small: bool) -> Task:
    task = ours_functions.transform(name, small, capture)
    for _ in range(2):
        task.run()
    return task
