"""The law of an output when the scores are not given: a Gaussian scale mixture, its variance and its excess kurtosis.

With V the conditional variance of a centred output: Var y = E V and excess kurtosis 3 Var V/(E V)^2, which vanishes if and only if V is
deterministic.
"""

from __future__ import annotations

import sympy

from netsor.derive.laws import marginal
from netsor.derive.moment_layout import covariance as tidy_covariance
from netsor.derive.moment_layout import excess_kurtosis
from netsor.derive.names import Letters, indexed
from netsor.derive.scalar_moments import NoMoment
from netsor.derive.score_moments import ScoreMoments
from netsor.derive.objects import GaussianExpectation, ScoreExpectation
from netsor.derive.softmax import with_weights_summed
from netsor.derive.statement import Covariance, Expected, Kurtosis, Statement
from netsor.ir.expressions import Coord, Expr
from netsor.ir.kernel import Kernel
from netsor.ir.rewrite import free_indices, substitute
from netsor.limit.limits import TooMuchWork

KURTOSIS = "3 Var V/(E V)^2, V the conditional variance"
CITATION = "Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846"


def marginal_laws(reference: Coord, other: Coord, kernel: Kernel, moments: ScoreMoments, collector) -> list[Statement]:
    """Covariance and excess kurtosis of an output with conditional covariance ``kernel``, over the scores; nothing where the scores
    are of several levels."""
    body = kernel.limit().expression()
    means = [moments.analysis.recursion.moment(r).limit().expression() for r in (reference, other)]
    if any(map(moments.analysis.levels.scores_in, means)):
        return [_with_random_mean(reference, other, body, means, collector)]
    if not moments.analysis.levels.scores_in(body):
        return []
    if (found := _over_random_scalars(reference, other, body, collector)) is not None:
        return found
    if not moments.covers(body):
        return _as_expectations(reference, other, body, collector)
    try:
        covariance = moments.expectation(body, _axes(body))
        variance_body = substitute(body, dict(zip(other.subscripts, reference.subscripts)))
        square = moments.expectation(variance_body, _axes(variance_body), power=2)
        variance = moments.expectation(variance_body, _axes(variance_body))
    except TooMuchWork:
        return _as_expectations(reference, other, body, collector)
    collector.inline(moments.recursion)
    sides = _Sides(reference, other, collector)
    total, first, second = map(sides.expectation, (covariance, variance, square))
    sides.steps(variance_body, first, second)
    kurtosis = _kurtosis(first, second, sides.convert(variance_body))
    return sides.mixture(tidy_covariance(total) if _is_told(total) else ScoreExpectation(sides.convert(body)), kurtosis)


def _is_told(moment: sympy.Expr) -> bool:
    """Whether a moment says more than that it is an expectation over the scores: it is closed, or needs one or two Gaussian variables."""
    return all(len(each.variables) <= 2 and not any(each.inner) for each in moment.atoms(GaussianExpectation))


def _kurtosis(first: sympy.Expr, second: sympy.Expr, variance: sympy.Expr) -> sympy.Expr:
    """3 Var V/(E V)^2 from E V and E V^2, ``variance`` being V."""
    if _is_told(first) and _is_told(second):
        return excess_kurtosis(first, second)
    if sympy.expand(second - first**2) == 0:
        return sympy.S.Zero
    mean = tidy_covariance(first) if _is_told(first) else ScoreExpectation(variance)
    return 3 * (ScoreExpectation(variance**2) / mean**2 - 1)


class _Sides:
    """Two elements of an output, in one set of letters, and the statements about them over the scores."""

    def __init__(self, reference: Coord, other: Coord, collector):
        self.letters, self.collector = Letters(), collector
        self.elements = [collector.names.element(r.family, [self.convert(s) for s in r.subscripts]) for r in (reference, other)]
        self.axes = self.letters.axes(self.convert)
        self.family = reference.family
        self.over = collector.scores_of(reference.family, averaged=True)

    def convert(self, expr: Expr) -> sympy.Expr:
        return self.collector.convert(expr, self.letters)

    def expectation(self, moment: Kernel) -> sympy.Expr:
        """A moment over the scores."""
        return with_weights_summed(self.convert(moment.limit().expression()), self.collector.convert.ranges(self.letters))

    def covariance(self, total: sympy.Expr, law: str) -> Statement:
        return Statement("moments", Covariance(*self.elements), total, "law of total covariance", CITATION, over=self.over, axes=self.axes,
                         law=marginal(self.elements[0], law))

    def steps(self, variance: Expr, first: sympy.Expr | None = None, second: sympy.Expr | None = None) -> None:
        """State V, its first two moments (where they have formulas) and what they are to those of the output, if steps are asked for."""
        if not self.collector.steps:
            return
        element = self.elements[0]
        own = tuple(axis for axis in self.axes if axis[0] in element.free_symbols)
        label, subscripts = (element.base.label, element.indices) if isinstance(element, sympy.Indexed) else (element, ())
        v = indexed(self.collector.names.new(f"V_{label}"), subscripts)
        given = self.collector.scores_of(self.family)

        def state(left, right, rule: str, over: tuple = self.over, citation: str = CITATION) -> None:
            self.collector.statements.append(Statement("moments", left, _pulled(right), rule, citation, axes=own, over=over))

        self.collector.statements.append(Statement(
            "moments", Covariance(element, element), self.convert(variance), "conditional variance", name=v, given=given, axes=own))
        for power, moment in ((1, first), (2, second)):
            if moment is not None and _is_told(moment):
                state(Expected(v**power), moment, "linearity, and moments of functions of the scores")
        state(Expected(element**2), Expected(v), "law of total variance, E[y] = 0 given the scores", (), "Var y = E Var(y | p) + Var E[y | p]")
        state(Expected(element**4), 3 * Expected(v**2), "fourth moment of a Gaussian, given the scores", (), "Isserlis 1918")

    def mixture(self, total: sympy.Expr, kurtosis: sympy.Expr) -> list[Statement]:
        """Covariance and excess kurtosis of a centred mixture."""
        own = tuple(axis for axis in self.axes if axis[0] in self.elements[0].free_symbols)
        return [
            self.covariance(total, "a Gaussian scale mixture" if kurtosis != 0 else "Gaussian"),
            Statement("moments", Kurtosis(self.elements[0]), kurtosis, KURTOSIS, CITATION, over=self.over, axes=own),
        ]


def _with_random_mean(reference: Coord, other: Coord, body: Expr, means: list[Expr], collector) -> Statement:
    """Cov(y, y') = E[C + m m'] - E[m] E[m'] where the conditional mean m depends on the scores too; 3 Var V/(E V)^2 does not hold then."""
    sides = _Sides(reference, other, collector)
    one, two = map(sides.convert, means)
    total = ScoreExpectation(sides.convert(body) + one * two) - ScoreExpectation(one) * ScoreExpectation(two)
    return sides.covariance(total, "a mixture of Gaussians, whose means are random too")


def _as_expectations(reference: Coord, other: Coord, body: Expr, collector) -> list[Statement]:
    """The laws as expectations over the scores, nothing worked out."""
    sides = _Sides(reference, other, collector)
    variance_body = substitute(body, dict(zip(other.subscripts, reference.subscripts)))
    sides.steps(variance_body)
    variance = sides.convert(variance_body)
    return sides.mixture(ScoreExpectation(sides.convert(body)), _standing_kurtosis(variance))


def _over_random_scalars(reference: Coord, other: Coord, body: Expr, collector) -> list[Statement] | None:
    """The laws where what is random are independent scalars alone, through the equations that lead to them; None if they are not, or if
    that gives no formula."""
    scalars = collector.independent_scalars(body)
    if scalars is None:
        return None
    sides = _Sides(reference, other, collector)
    variance = sides.convert(substitute(body, dict(zip(other.subscripts, reference.subscripts))))
    try:
        total, first, second = map(scalars, (sides.convert(body), variance, variance**2))
    except NoMoment:
        return None
    return sides.mixture(total, excess_kurtosis(first, second))


def _standing_kurtosis(variance: sympy.Expr) -> sympy.Expr:
    return 3 * (ScoreExpectation(variance**2) / ScoreExpectation(variance) ** 2 - 1)


def _pulled(expr: sympy.Expr) -> sympy.Expr:
    return expr if expr.has(Expected) else tidy_covariance(expr)


def _axes(body: Expr) -> tuple:
    return tuple(sorted(free_indices(body), key=lambda index: (str(index.tag), index.name)))
