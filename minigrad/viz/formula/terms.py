"""Terms: what a formula computes, as variables, constants, calls and choices.

A term can be evaluated, so that tests can compare a formula with its rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.autograd.primitives import Primitive


class Term:
    """What a formula, or a part of it, computes."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Term, ...]:
        """The terms that it is made of."""
        return ()

    def rebuilt(self, change: Callable[[Term], Term]) -> Term:  # noqa: ARG002
        """The term with every part of it changed."""
        return self

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        """Compute the term from the values of its variables."""
        raise NotImplementedError

    def walk(self) -> Iterator[Term]:
        """The term and all within it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def size(self) -> int:
        """The number of variables and calls in the term."""
        return sum(not isinstance(part, Constant) for part in self.walk())

    def variables(self) -> Counter[str]:
        """How often each variable occurs in the term."""
        return Counter(part.name for part in self.walk() if isinstance(part, Variable))

    def same(self, other: Term) -> bool:
        """Whether two terms are equal. Constants may be arrays, so ``==`` cannot tell."""
        return repr(self) == repr(other)

    def is_constant(self, *values: Any) -> bool:
        """Whether the term is one of these constants: ``1`` is neither ``True`` nor ``1.0``."""
        return isinstance(self, Constant) and any(
            type(self.value) is type(value) and self.value == value for value in values
        )

    def shown(self) -> Term:
        """The array in a reshape that only restores reduced axes; any other term is itself."""
        match self:
            case Call(np.reshape, (x, Call(FunctionType(), _))):
                return x
        return self

    def items(self) -> tuple[Term, ...]:
        """The terms in a row; of any other term itself."""
        return self.parts if isinstance(self, Call) and self.function is row else (self,)


@dataclass(frozen=True, slots=True)
class Variable(Term):
    """An argument of a rule, or a name that the formula defines."""

    name: str

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        return names[self.name]


@dataclass(frozen=True, slots=True)
class Constant(Term):
    """A value, and the sign for it if it has one, such as π."""

    value: Any
    symbol: str = ""

    def evaluate(self, names: Mapping[str, Any]) -> Any:  # noqa: ARG002
        return self.value


@dataclass(frozen=True, slots=True)
class Call(Term):
    """A function of terms, or an op; an operator is the function in `operator`."""

    function: Any
    args: tuple[Term, ...]
    keywords: tuple[tuple[str, Term], ...] = ()

    @property
    def parts(self) -> tuple[Term, ...]:
        return (*self.args, *(value for _, value in self.keywords))

    def rebuilt(self, change: Callable[[Term], Term]) -> Term:
        named = tuple((name, change(value)) for name, value in self.keywords)
        return Call(self.function, tuple(map(change, self.args)), named)

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        given = [arg.evaluate(names) for arg in self.args]
        named = {name: value.evaluate(names) for name, value in self.keywords}
        function = self.function
        if isinstance(function, Primitive):
            return function.call_with(function.forward, given)
        if hasattr(function, "op"):  # an op of ours gives tensors; its forward gives arrays
            function = function.op.forward
        return function(*given, **named)


@dataclass(frozen=True, slots=True)
class Choice(Term):
    """One term or another, of which only the chosen one is computed. ``a and b`` is one too."""

    test: Term
    then: Term
    otherwise: Term

    @property
    def parts(self) -> tuple[Term, ...]:
        return (self.test, self.then, self.otherwise)

    def rebuilt(self, change: Callable[[Term], Term]) -> Term:
        return Choice(*map(change, self.parts))

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        return (self.then if self.test.evaluate(names) else self.otherwise).evaluate(names)


def row(*items: Any) -> tuple[Any, ...]:
    """The function that a tuple or a list of terms is a call of."""
    return items
