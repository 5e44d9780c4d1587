"""How often a value must be computed: once, once for each randomisation, or for every sample of the scores."""

from __future__ import annotations

from enum import IntEnum

from netsor.ir.expressions import Average, Expect, Expr, Leaf, Let, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.program import Family, Score
from netsor.ir.rewrite import free_indices, walk
from netsor.limit.equations import Binding
from netsor.limit.recursion import Recursion


class Level(IntEnum):
    STATIC = 0
    """Depends on nothing random."""
    REPLICATE = 1
    """Depends on a randomisation: quasi-random points, or scores along an infinite axis, which are averaged over."""
    SAMPLE = 2
    """Depends on sampled scores."""


def is_several(expect: Expect) -> bool:
    """Whether an expectation needs quasi-random points: not a function of one variable, nor a product f(u) g(v) of two functions
    without parameters."""
    if any(expect.inner):
        return True
    if len(expect.inner) == 1:
        return False
    return len(expect.inner) > 2 or any(len(slots(f)) > 1 or not is_static(f) for f in expect.factors)


def is_static(body: Expr) -> bool:
    """Whether nothing but numbers and leaves occurs."""
    return not free_indices(body) and not any(isinstance(part, (Let, ScalarRef)) for part in walk(body))


def slots(expr: Expr) -> frozenset[int]:
    """The leaves that occur."""
    return frozenset(part.slot for part in walk(expr) if isinstance(part, Leaf))


class Levels:
    """Levels of expressions, bindings and scores, found once each."""

    def __init__(self, recursion: Recursion):
        self.recursion = recursion
        self.randomness = Randomness()
        self._bindings: dict[Binding, Level] = {}
        self._scores: dict[Family, Level] = {}

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
            for earlier in dependencies(binding, self.recursion):  # earliest first: no deep recursion
                if earlier not in self._bindings:
                    self._bindings[earlier] = self.of(earlier.expression)
        return self._bindings[binding]

    def of_scalar(self, family: Family) -> Level:
        if isinstance(family.definition, Score):
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


def dependencies(binding: Binding, recursion: Recursion) -> list[Binding]:
    """The binding and all bindings that it rests on, earliest first (iterative: chains may be thousands long)."""
    done: dict[Binding, None] = {}
    stack: list[tuple[Binding, bool]] = [(binding, False)]
    while stack:
        current, expanded = stack.pop()
        if current in done:
            continue
        if expanded:
            done[current] = None
            continue
        stack.append((current, True))
        stack.extend((earlier, False) for earlier in direct_dependencies(current, recursion) if earlier not in done)
    return list(done)


def direct_dependencies(binding: Binding, recursion: Recursion) -> list[Binding]:
    """The bindings (of kernels and of scalars other than scores) that one equation mentions."""
    found = []
    for reference in binding.references():
        if isinstance(reference, Let):
            found.append(reference.binding)
        elif not isinstance(reference.family.definition, Score):
            found.append(recursion.scalar(reference.family))
    return list(dict.fromkeys(found))
