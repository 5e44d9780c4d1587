"""The conditions of the theorem, checked for every score; each refusal says why and for which index values."""

from __future__ import annotations

import numpy as np

from netsor.ir.expressions import Coord
from netsor.ir.kernel import Diverges, Kernel, NoPower
from netsor.ir.labelled import SAMPLE, TooLarge
from netsor.ir.program import Family
from netsor.language.diagnostics import Diagnostic
from netsor.limit.fresh_factor import FreshFactors
from netsor.limit.levels import Level, Levels
from netsor.limit.recursion import Recursion

EXAMPLES = 3  # index values shown


def score_diagnostics(scores: list[Family], recursion: Recursion, levels: Levels, fresh: FreshFactors) -> list[Diagnostic]:
    """A diagnostic for every score without a Gaussian limit."""
    found = []
    for score in scores:
        if fresh.of(score) is not None:
            continue
        try:
            mean = recursion.moment(score.definition.left, score.definition.right)
        except (Diverges, NoPower) as error:
            found.append(Diagnostic("N404", infinite_axis_message(error), _place(score)))
            continue
        refused = _undermined(score, fresh) if fresh.transposed_behind(score) else _no_fresh_factor(score)
        found.append(_diverges(score, mean, recursion, levels) or refused)
    return found


def _diverges(score: Family, mean: Kernel, recursion: Recursion, levels: Levels) -> Diagnostic | None:
    if mean.is_zero:
        return None
    where, value = _nonzero(score, mean, recursion, levels)
    if where == "":
        return None
    width = score.definition.left.family.width
    factor = "" if value is None or abs(value - 1) < 1e-9 else f"{value:.6g}*"
    amount = f"{factor}sqrt({width})" if value is not None else f"a nonzero number times sqrt({width})"
    return Diagnostic(
        "N401", f"this score diverges: its mean is {amount}{where.rstrip()}", _place(score),
        label=f"E[{_show(score.definition.left)} {_show(score.definition.right)}] is not 0",
        hint=f"divide by {width} instead of sqrt({width}): the average converges to a number",
    )


def _nonzero(score: Family, mean: Kernel, recursion: Recursion, levels: Levels) -> tuple[str, float | None]:
    """For which index values the mean is not zero ("" if for none), and its value there."""
    from netsor.limit.numbers import Numbers

    expression = mean.limit().expression()
    if levels.of(expression) == Level.SAMPLE:
        return " (given the earlier scores)", None
    numbers = Numbers(recursion, levels)
    try:
        numbers.prepare(expression)
        values = numbers.array(expression, score.axes)
    except TooLarge:
        return "", None
    assert SAMPLE not in score.axes
    places = np.argwhere(np.abs(values) > 1e-12 * max(1.0, float(np.max(np.abs(values), initial=0.0))))
    if not len(places):
        return "", None
    value = float(values[tuple(places[0])])
    if len(places) == values.size:
        return (" for all index values" if values.size > 1 else " "), value
    shown = [
        ", ".join(f"{axis.name}={numbers.values(axis)[k]}" for axis, k in zip(score.axes, place)) for place in places[:EXAMPLES]
    ]
    more = " and others" if len(places) > EXAMPLES else ""
    return f" for {'; '.join(shown)}{more}", value


def _no_fresh_factor(score: Family) -> Diagnostic:
    left, right = score.definition.left, score.definition.right
    return Diagnostic(
        "N402", "this score has no fresh factor: no matrix or input enters its two sides as an odd function", _place(score),
        label=f"E[{_show(left)} {_show(right)}] is 0, but the fluctuations of earlier averages enter at the same order",
        hint="the covariance E[F F'] would be wrong; make one side linear in a matrix or input that the other side does not use",
    )


def _undermined(score: Family, fresh: FreshFactors) -> Diagnostic:
    name = fresh.transposed_behind(score)[0].owner.name.removesuffix(".T")
    return Diagnostic(
        "N405", f"this score has no fresh factor that `{name}` and `{name}.T` leave alone", _place(score),
        label="both are behind it: the covariance E[F F'] would be wrong",
        hint=f"make one side linear in an input, or a matrix, that neither is ever applied to; and dot(u, {name}.T @ v) is "
             f"dot({name} @ u, v), without the transpose",
    )


def _show(reference: Coord) -> str:
    return repr(reference) if not reference.family.hidden else "…"


def infinite_axis_message(error: Diverges | NoPower) -> str:
    """What went wrong with an infinite axis, in a sentence."""
    if isinstance(error, Diverges):
        growth = " ".join(f"{name}^{exponent}" if exponent != 1 else name for name, exponent in error.powers)
        return f"this grows like {growth} along an infinite axis: scale the sum so that it converges"
    return "an infinite size stands inside a function, where only its powers can be counted"


def _place(score: Family):
    """Where the dot stands."""
    return score.definition.span or score.span
