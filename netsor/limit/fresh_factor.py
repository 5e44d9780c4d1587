"""When a score has a Gaussian limit: the fresh-factor condition.

p = dot(u, v)/sqrt(n) with Z^u Z^v = F(atoms).  There must be a source (a matrix or input, as an element) such that flipping the sign
of all of its atoms turns F into -F, or several that do so together: the query WQ@x + b is odd in WQ and b.  (A function that is odd in
several atoms together is a sum of products of Hermite polynomials, each odd in one of them.)  If E[F] is not zero the score
diverges; if it is zero without a fresh factor, fluctuations of earlier kernels enter at the same order as the score itself, and the
covariance E[F F'] would be wrong.

With transposes that is not enough: dot(x, W.T@(W@x)^2)/sqrt(n) is odd in x, yet its variance is E g^6 = 15 and not 3, because it equals
dot(W@x, (W@x)^2)/sqrt(n).  A score with a matrix behind it that is used as W and as W.T needs a fresh factor that no such matrix is
ever applied to: given everything else, the score is then a sum of independent terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from netsor.ir.expressions import Coord
from netsor.ir.facts import bottom_up, uses
from netsor.ir.program import Family, Score
from netsor.limit.parity import Sources, widened
from netsor.rules import AtomRule, Source, rule_of


@dataclass(frozen=True)
class Together:
    """Several sources that are flipped at once."""

    sources: tuple[Source, ...]

    def meets(self, other: Source) -> bool:
        return any(source.meets(other) for source in self.sources)

    def covers(self, other: Source) -> bool:
        return any(source.covers(other) for source in self.sources)


class FreshFactors:
    """The fresh factors of a program's scores.  ``two_way`` are the products with matrices that are used as W and as W.T by what
    the scores depend on."""

    def __init__(self, sources: Sources, two_way: Iterable[Family] = ()):
        self.sources, self.two_way = sources, tuple(two_way)
        self._behind: dict[Family, frozenset[Source]] = {}

    def of(self, score: Family) -> Source | Together | None:
        """A source in which the product of the two sides is odd, or several together, and on which transposes have no bearing; None if
        there is none."""
        return next((source for source in self._odd(score) if self._stands(score, source)), None)

    def _odd(self, score: Family) -> Iterator[Source | Together]:
        definition: Score = score.definition
        sides = (definition.left, definition.right)
        candidates = set().union(*map(self.sources.at, sides))
        for source in (*widened(candidates), *self._together(*sides)):
            if self.sources.product_parity(sides, source) == -1:
                yield source

    def _together(self, left: Coord, right: Coord) -> Iterator[Together]:
        """All sources of one side that the other side does not have; all sources."""
        sources = [self.sources.at(side) for side in (left, right)]
        for own, others in (sources, sources[::-1], (sources[0] | sources[1], ())):
            alone = [source for source in widened(own) if not any(source.meets(other) for other in others)]
            if len(alone) > 1:
                yield Together(tuple(alone))

    def _stands(self, score: Family, source: Source | Together) -> bool:
        return not self.transposed_behind(score) or not any(source.meets(other) for other in self._touched)

    def transposed_behind(self, score: Family) -> list[Source]:
        """The matrices behind a score that are used both ways."""
        if not self.two_way:
            return []
        own = {rule_of(family).source(family.generic) for family in self.two_way}
        return [source for source in widened(self._sources_behind(score)) if any(source.meets(other) for other in own)]

    @cached_property
    def _touched(self) -> frozenset[Source]:
        """All that the arguments of the two-way products depend on, and these products themselves."""
        return frozenset().union(*(self._sources_behind(family) for family in self.two_way))

    def _sources_behind(self, family: Family) -> frozenset[Source]:
        """The sources that a family depends on in any way, through matrices and scalars too."""
        return bottom_up(family, self._behind, uses, self._find_behind)

    def _find_behind(self, family: Family) -> frozenset[Source]:
        found = frozenset().union(*(self._behind[used] for used in uses(family)))
        rule = rule_of(family)
        return found | {rule.source(family.generic)} if isinstance(rule, AtomRule) else found
