"""The law of an output when the scores are not given: a Gaussian scale mixture, its variance and its excess kurtosis.

With V the conditional variance of a centred output: Var y = E V and excess kurtosis 3 Var V/(E V)^2, which vanishes if and only if V is
deterministic.
"""

from __future__ import annotations

import sympy

from netsor.derive.names import Letters
from netsor.derive.printing.text import text
from netsor.derive.score_moments import ScoreMoments
from netsor.derive.objects import GaussianExpectation, ScoreExpectation
from netsor.derive.softmax import with_squared_weights
from netsor.derive.statement import Covariance, Kurtosis, Statement
from netsor.ir.expressions import Coord, Expr
from netsor.ir.kernel import Kernel
from netsor.ir.rewrite import free_indices, substitute
from netsor.limit.limits import TooMuchWork

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
    letters = Letters()
    convert = collector.convert
    elements = [collector.names.element(r.family, [convert(s, letters) for s in r.subscripts]) for r in (reference, other)]
    axes = letters.axes(lambda e: convert(e, letters))
    own = [axis for axis in axes if axis[0] in elements[0].free_symbols]
    formula = lambda found: with_squared_weights(convert(found.limit().expression(), letters))  # noqa: E731
    total, first, second = formula(covariance), formula(variance), formula(square)
    over = collector.scores_of(reference.family)
    if total.has(GaussianExpectation):
        total = ScoreExpectation(convert(body, letters))
    if not second.has(GaussianExpectation):
        kurtosis = _tidy(3 * (second / first**2 - 1))
    elif sympy.expand(second - first**2) == 0:
        kurtosis = sympy.S.Zero
    else:
        given = convert(variance_body, letters)
        kurtosis = 3 * (ScoreExpectation(given**2) / ScoreExpectation(given) ** 2 - 1)
    return [
        Statement("moments", Covariance(*elements), total, "law of total covariance", CITATION, over=over, axes=axes, law=_law(elements[0], kurtosis)),
        Statement("moments", Kurtosis(elements[0]), kurtosis, "3 Var V/(E V)^2", CITATION, over=over, axes=tuple(own)),
    ]


def _with_random_mean(reference: Coord, other: Coord, body: Expr, means: list[Expr], collector) -> Statement:
    """Cov(y, y') = E[C + m m'] - E[m] E[m'] where the conditional mean m depends on the scores too; 3 Var V/(E V)^2 does not hold then."""
    letters, convert = Letters(), collector.convert
    elements = [collector.names.element(r.family, [convert(s, letters) for s in r.subscripts]) for r in (reference, other)]
    axes = letters.axes(lambda e: convert(e, letters))
    one, two = (convert(mean, letters) for mean in means)
    total = ScoreExpectation(convert(body, letters) + one * two) - ScoreExpectation(one) * ScoreExpectation(two)
    return Statement("moments", Covariance(*elements), total, "law of total covariance", CITATION, over=collector.scores_of(reference.family),
                     axes=axes, law=f"{text(elements[0])} a mixture of Gaussians, their means random too")


def _as_expectations(reference: Coord, other: Coord, body: Expr, collector) -> list[Statement]:
    """The laws as expectations over the scores, nothing worked out."""
    letters, convert = Letters(), collector.convert
    elements = [collector.names.element(r.family, [convert(s, letters) for s in r.subscripts]) for r in (reference, other)]
    axes = letters.axes(lambda e: convert(e, letters))
    own = tuple(axis for axis in axes if axis[0] in elements[0].free_symbols)
    over = collector.scores_of(reference.family)
    given = convert(substitute(body, dict(zip(other.subscripts, reference.subscripts))), letters)
    kurtosis = 3 * (ScoreExpectation(given**2) / ScoreExpectation(given) ** 2 - 1)
    total = ScoreExpectation(convert(body, letters))
    return [
        Statement("moments", Covariance(*elements), total, "law of total covariance", CITATION, over=over, axes=axes, law=_law(elements[0], kurtosis)),
        Statement("moments", Kurtosis(elements[0]), kurtosis, "3 Var V/(E V)^2", CITATION, over=over, axes=own),
    ]


def _law(element: sympy.Expr, kurtosis: sympy.Expr) -> str:
    return f"{text(element)} a Gaussian scale mixture" if kurtosis != 0 else f"{text(element)} Gaussian"


def _tidy(expr: sympy.Expr) -> sympy.Expr:
    return sympy.factor_terms(sympy.cancel(sympy.expand(expr)))


def _axes(body: Expr) -> tuple:
    return tuple(sorted(free_indices(body), key=lambda index: (str(index.tag), index.name)))
