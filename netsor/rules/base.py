"""What a rule is: one class, three readings (kind, limit, finite width), complete or refused when it is defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from collections.abc import Callable

from netsor.ir.expressions import ZERO, Coord, Expr, Num
from netsor.ir.kernel import Kernel
from netsor.ir.polynomials import coords, degree
from netsor.ir.program import Family

Moments = Callable[..., Kernel]
"""``moment(*references)``: E of the product of coordinates, given the random scalars, as a kernel."""


@dataclass(frozen=True)
class Source:
    """Where randomness enters: an element of a matrix or input family (``None``: any element along that axis)."""

    owner: Any
    subscripts: tuple = ()

    @staticmethod
    def of(owner: Any, subscripts: tuple) -> "Source":
        return Source(owner, tuple(s.value if isinstance(s, Num) else None for s in subscripts))

    def meets(self, other: "Source") -> bool:
        """Whether the two may be the same element."""
        return self.owner is other.owner and all(
            a is None or b is None or a == b for a, b in zip(self.subscripts, other.subscripts)
        )

    def covers(self, other: "Source") -> bool:
        """Whether every element that ``other`` may be is one of ours."""
        return self.owner is other.owner and all(a is None or a == b for a, b in zip(self.subscripts, other.subscripts))


class Rule:
    """Base of the rules.  A concrete rule says what it is called, where it comes from and what it stands on, and gives its readings.

    :cvar definition: the class of :mod:`netsor.ir.program` that it reads.
    :cvar statement: the limit in one line of mathematics.
    :cvar citation: the theorem or paper.
    """

    name: ClassVar[str]
    definition: ClassVar[type]
    statement: ClassVar[str]
    citation: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ("name", "definition", "statement", "citation", "kind", "finite")

    def __init_subclass__(cls, abstract: bool = False, **options) -> None:
        super().__init_subclass__(**options)
        if abstract:
            return
        for attribute in cls.required:
            if getattr(cls, attribute, None) is None:
                raise TypeError(f"the rule {cls.__name__} is incomplete: it has no '{attribute}' ({EXPLAIN[attribute]})")

    kind: Any = None
    """``kind(family, randomness)``: G, H, C or S; the families that it mentions have theirs."""

    finite: Any = None
    """``finite(family, sampler)``: the value at width n, labelled (see :mod:`netsor.finite.evaluate`)."""


class AtomRule(Rule, abstract=True):
    """A rule whose result is drawn: an *atom* of the recursion."""

    required = Rule.required + ("source", "mean")

    source: Any = None
    """``source(reference)``: the :class:`Source` of its randomness."""

    mean: Any = None
    """``mean(reference)``: E Z, an expression."""

    def symmetric(self, reference: Coord) -> bool:
        """Whether Z and -Z have the same law."""
        return self.mean(reference) == ZERO


class GaussianRule(AtomRule, abstract=True):
    """A rule whose result is Gaussian given the random scalars."""

    required = AtomRule.required + ("covariance",)

    covariance: Any = None
    """``covariance(left, right, moment)``: Cov of two elements of this rule's results with sources that may meet, a Kernel."""


EXPLAIN = {
    "name": "the word by which users know it",
    "definition": "the definition class that it reads",
    "statement": "its limit in one line",
    "citation": "the theorem or paper that it stands on",
    "kind": "a method kind(family, randomness) that returns G, H, C or S",
    "finite": "a method finite(...) that returns the value at width n",
    "source": "a method source(reference) that names the randomness it draws on",
    "mean": "a method mean(reference): E Z as an expression",
    "covariance": "a method covariance(...): the covariance of two of its results",
}


def is_affine(body: Expr, gaussian: Callable[[Family], bool]) -> bool:
    """Whether a coordinatewise expression is affine in Gaussian families."""
    return degree(body) in (0, 1) and all(gaussian(part.family) for part in coords(body))


__all__ = ["AtomRule", "Coord", "GaussianRule", "Moments", "Rule", "Source", "is_affine"]
