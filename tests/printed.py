"""Comparing what code prints, or says in an error, with what is expected of it."""

import doctest
import math
import re

__all__ = ["FLAGS", "Checker", "gist"]

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Checker(doctest.OutputChecker):
    """Takes numbers for equal that differ in the last digits, as they do between machines."""

    NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?")

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        wanted, found = self.NUMBER.findall(want), self.NUMBER.findall(got)
        if len(wanted) != len(found):
            return False
        close = all(
            math.isclose(float(w), float(f), rel_tol=1e-5)
            for w, f in zip(wanted, found, strict=True)
        )
        plain = [self.NUMBER.sub("0.0", text) for text in (want, got)]
        return close and super().check_output(*plain, optionflags)


def gist(message: str) -> str:
    """A pattern for `pytest.raises`: a message, with any words where " ... " is."""
    return ".*".join(map(re.escape, message.split(" ... ")))
