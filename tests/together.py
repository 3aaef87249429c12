"""Many cases of microseconds as one test: one item each would cost more than what it tests."""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["together"]


def together(**tables: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with every combination of values; a failure shows each case that fails.

    For tests without fixtures, in the place of `pytest.mark.parametrize`.

    Args:
        **tables: For each argument of the test the values to try.
    """
    combinations = [
        dict(zip(tables, values, strict=True)) for values in itertools.product(*tables.values())
    ]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any) -> None:
            errors = []
            for case in combinations:
                try:
                    test(*args, **case)
                except Exception as error:  # noqa: BLE001  # raised below
                    error.add_note(f"the case is {case}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(combinations)} cases fail", errors)

        del run.__wrapped__  # type: ignore[attr-defined]  # pytest would look for its arguments
        return run

    return decorate
