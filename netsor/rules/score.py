"""``p = dot(u, v)/sqrt(n)``: a scalar that stays random in the limit."""

from __future__ import annotations

import math

from netsor.ir.expressions import ZERO, Coord, Expr, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.kernel import Kernel
from netsor.ir.labelled import Labelled, contract
from netsor.ir.program import Family, Score
from netsor.ir.rewrite import substitute
from netsor.rules.base import Moments, Rule


class ScoreRule(Rule):
    """Scores are jointly Gaussian given the earlier scores, centred, independent of the vectors' Z, with
    Cov(p, p') = E[Z^u Z^v Z^{u'} Z^{v'}].  The condition is a fresh factor: :mod:`netsor.limit.fresh_factor`."""

    name = "Score"
    definition = Score
    statement = "p Gaussian given earlier scores, Cov(p, p') = E[Z^u Z^v Z^{u'} Z^{v'}]"
    citation = "Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846 (one level of scores)"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "S"

    def mean(self, reference: ScalarRef) -> Expr:
        return ZERO

    def sides(self, reference: ScalarRef) -> tuple[Coord, Coord]:
        """The two vectors whose product it sums."""
        family = reference.family
        names = dict(zip(family.axes, reference.subscripts))
        return substitute(family.definition.left, names), substitute(family.definition.right, names)

    def covariance(self, left: ScalarRef, right: ScalarRef, moment: Moments) -> Kernel:
        return moment(*self.sides(left), *self.sides(right))

    def finite(self, family: Family, sampler) -> Labelled:
        score = family.definition
        sides = [sampler.evaluate(score.left), sampler.evaluate(score.right)]
        # the coordinate is summed: rename it to a label that contract() does not keep
        width = score.left.family.width
        point, inner = sampler.points[width], sampler.summed_point
        sides = [Labelled(side.data, tuple(inner if l == point else l for l in side.labels)) for side in sides]
        product = contract(sides, family.axes)
        return Labelled(product.data / math.sqrt(sampler.sizes[width]), product.labels)
