"""Expectations over random scores: the same recursion once more, on the Gaussian law of the scores.

Scores that depend on no other scores are jointly Gaussian with known covariance, so that functions of them (a conditional variance,
a softmax) can be read as coordinatewise functions of Gaussian vectors.  E V and E V^2 of a conditional variance V(p) then follow by
the rules that give kernels: independence, Isserlis for polynomials, and a standing expectation for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsor.ir.expressions import ZERO, Average, Coord, Expect, Expr, Index, Let, ScalarRef
from netsor.ir.kernel import Kernel
from netsor.ir.program import Custom, Family, Nonlin
from netsor.ir.rewrite import free_indices, rebuild, substitute, walk
from netsor.limit.analysis import Analysis
from netsor.limit.recursion import Recursion
from netsor.limit.scores import Group
from netsor.rules import GaussianRule, Source, rule_of


LONGEST = 400  # parts of a conditional variance whose moments are worked out


class ScoreLaw(GaussianRule):
    """A score as a Gaussian variable: mean 0, Cov(p, p') = E[Z^u Z^v Z^{u'} Z^{v'}]; independent between groups and along the axes
    that split a group into independent parts."""

    name = "Law of a score"
    definition = Custom
    statement = "p ~ N(0, E[Z^u Z^v Z^{u'} Z^{v'}])"
    citation = "Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846"

    def __init__(self, score: Family, group: Group, analysis: Analysis):
        self.score, self.group, self.analysis = score, group, analysis
        self.batch = next(member.batch for member in group.members if member.family is score)

    def kind(self, family, randomness) -> str:
        return "G"

    def finite(self, family, sampler):
        raise TypeError("the law of a score has no finite-width reading")

    def source(self, reference: Coord) -> Source:
        places = dict(zip(reference.family.axes, reference.subscripts))
        return Source.of(self.group, tuple(places[axis] for axis in self.batch))

    def mean(self, reference: Coord) -> Expr:
        rule = rule_of(self.score)
        return rule.mean(ScalarRef(self.score, reference.subscripts)) if hasattr(rule, "mean") else ZERO

    def covariance(self, left: Coord, right: Coord, moment) -> Kernel:
        one, other = (ScalarRef(r.family.definition.rule.score, r.subscripts) for r in (left, right))
        return rule_of(one.family).covariance(one, other, self.analysis.recursion.moment)


class ScoreMoments:
    """Expectations of functions of the scores of a program."""

    def __init__(self, analysis: Analysis):
        self.analysis = analysis
        self.recursion = Recursion(whole_kernels=True)
        self._families: dict[Family, Family] = {}
        self._groups = {family: group for group in analysis.groups for family in group.families}

    def covers(self, expr: Expr) -> bool:
        """Whether no score (or random scalar) that an expression depends on has a law that depends on others, so that their joint law is
        Gaussian, and it is no longer than a reader would follow: no expectation of a function whose law depends on scores."""
        if not all(self.analysis.randomness.scores(score) == {score} for score in self.analysis.levels.scores_in(expr)):
            return False
        bindings = self.analysis.levels.behind((expr,))
        behind = [binding.expression for binding in bindings if self.analysis.levels.scores_in(binding.expression)]
        nodes = [part for each in (expr, *behind) for part in walk(each)]
        return len(nodes) <= LONGEST and not any(isinstance(part, Expect) for part in nodes)

    def expectation(self, body: Expr, axes: Sequence[Index], power: int = 1) -> Kernel:
        """E[body^power] over the scores, ``axes`` being the free indices of the body."""
        order = 1 + max((family.order for family in self._families.values()), default=0)
        converted = self.as_vector(body)
        family = Family("V", tuple(axes), Nonlin(converted), 10**9 + order, kind="H")
        return self.recursion.moment(*[family[tuple(axes)]] * power)

    def as_vector(self, expr: Expr) -> Expr:
        """The expression with scores, and functions of them, as coordinates of vectors."""
        match expr:
            case Let(binding=binding) if self.analysis.levels.scores_in(expr):
                return self.as_vector(substitute(binding.expression, dict(zip(binding.labels, expr.subscripts))))
            case ScalarRef(family=family) if self.analysis.randomness.scores(family):
                return Coord(self._family(family), tuple(map(self.as_vector, expr.subscripts)))
            case Average(body=inner, index=index):  # elements along an infinite axis are iid: their average is an expectation
                axes = tuple(sorted(free_indices(inner), key=repr))
                return self.expectation(inner, axes).expression() if index in axes else self.as_vector(inner)
        return rebuild(expr, self.as_vector)

    def _family(self, family: Family) -> Family:
        if family not in self._families:
            if family.is_sampled:
                definition = Custom(ScoreLaw(family, self._groups[family], self.analysis), ())
            else:
                definition = Nonlin(self.as_vector(self.analysis.recursion.scalar(family).expression))
            self._families[family] = Family(
                family.name, family.pattern, definition, family.order, kind="H", hidden=family.hidden, span=family.span)
        return self._families[family]
