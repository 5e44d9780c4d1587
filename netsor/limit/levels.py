"""How often a value must be computed: once, once for each randomisation, or for every sample of the scores."""

from __future__ import annotations

from enum import IntEnum
from collections.abc import Container, Iterable, Iterator

from netsor.ir.expressions import Average, Expect, Expr, Let, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.program import Family
from netsor.ir.rewrite import walk
from netsor.limit.equations import Binding
from netsor.limit.dimensions import is_several
from netsor.limit.recursion import Recursion


class Level(IntEnum):
    STATIC = 0
    """Depends on nothing random."""
    REPLICATE = 1
    """Depends on a randomisation: quasi-random points, or scores along an infinite axis, which are averaged over."""
    SAMPLE = 2
    """Depends on sampled scores."""


class Levels:
    """Levels of expressions, bindings and scores, found once each."""

    def __init__(self, recursion: Recursion):
        self.recursion = recursion
        self.randomness = Randomness()
        self._bindings: dict[Binding, Level] = {}
        self._scores: dict[Family, Level] = {}
        self._mentioned: dict[Expr, tuple[Binding, ...]] = {}

    def of(self, expr: Expr) -> Level:
        level = Level.STATIC
        for part in walk(expr):
            match part:
                case Let():
                    level = max(level, self.of_binding(part.binding))
                case ScalarRef():
                    level = max(level, self.of_scalar(part.family))
                case Expect() if is_several(part):
                    level = max(level, Level.REPLICATE)
                case Average():
                    level = max(level, Level.REPLICATE)
        return level

    def of_binding(self, binding: Binding) -> Level:
        if binding not in self._bindings:
            for earlier in self.earliest_first([binding], self._bindings):
                self._bindings[earlier] = self.of(earlier.expression)
        return self._bindings[binding]

    def of_scalar(self, family: Family) -> Level:
        if family.is_sampled:
            return self.of_score(family)
        return self.of_binding(self.recursion.scalar(family))

    def of_score(self, family: Family) -> Level:
        """A score along an infinite axis is averaged over and not sampled, unless its law depends on sampled ones."""
        if family not in self._scores:
            earlier = self.randomness.scores(family) - {family}
            infinite = any(axis.range.infinite for axis in family.axes)
            sampled = any(self.of_score(score) == Level.SAMPLE for score in sorted(earlier, key=lambda f: f.order))
            self._scores[family] = Level.REPLICATE if infinite and not sampled else Level.SAMPLE
        return self._scores[family]

    def scores_in(self, expr: Expr) -> frozenset[Family]:
        """The scores that an expression rests on."""
        bindings = list(self.behind((expr,)))
        found: frozenset[Family] = frozenset()
        for each in (expr, *(binding.expression for binding in bindings)):
            for part in walk(each):
                if isinstance(part, ScalarRef):
                    found |= self.randomness.scores(part.family)
        return found

    # --- what rests on what ------------------------------------------------------------------------------------------

    def mentioned(self, expr: Expr) -> tuple[Binding, ...]:
        """The bindings (of kernels and of scalars other than scores) that an expression mentions."""
        if expr not in self._mentioned:
            found = []
            for part in walk(expr):
                if isinstance(part, Let):
                    found.append(part.binding)
                elif isinstance(part, ScalarRef) and not part.family.is_sampled:
                    found.append(self.recursion.scalar(part.family))
            self._mentioned[expr] = tuple(dict.fromkeys(found))
        return self._mentioned[expr]

    def behind(self, expressions: Iterable[Expr]) -> Iterator[Binding]:
        """All bindings that the expressions rest on, earliest first."""
        return self.earliest_first([binding for expression in expressions for binding in self.mentioned(expression)])

    def earliest_first(self, roots: Iterable[Binding], known: Container[Binding] = ()) -> Iterator[Binding]:
        """The bindings and all that they rest on, earliest first, leaving out what is ``known`` and what only that rests on.

        Iterative: chains may be thousands long."""
        done: set[Binding] = set()
        stack = [(binding, False) for binding in reversed(list(roots))]
        while stack:
            current, expanded = stack.pop()
            if current in done or current in known:
                continue
            if expanded:
                done.add(current)
                yield current
                continue
            stack.append((current, True))
            earlier = self.mentioned(current.expression)
            stack.extend((binding, False) for binding in earlier if binding not in done and binding not in known)
