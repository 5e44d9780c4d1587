"""When a score has a Gaussian limit: the fresh-factor condition.

p = dot(u, v)/sqrt(n) with Z^u Z^v = F(atoms).  There must be a source (a matrix or input, as an element) such that flipping the sign
of all of its atoms turns F into -F.  If E[F] is not zero the score diverges; if it is zero without a fresh factor, fluctuations
of earlier kernels enter at the same order as the score itself, and the covariance E[F F'] would be wrong.
"""

from __future__ import annotations

from netsor.ir.program import Family, Score
from netsor.limit.parity import Sources, widened
from netsor.rules import Source


def fresh_factor(score: Family, sources: Sources) -> Source | None:
    """A source in which the product of the two sides is odd, or None."""
    definition: Score = score.definition
    sides = (definition.left, definition.right)
    candidates = set().union(*map(sources.at, sides))
    for source in widened(candidates):
        if sources.product_parity(sides, source) == -1:
            return source
    return None
