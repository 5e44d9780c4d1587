"""How scores and outputs are distributed, as sentences: the statement of the theorem for a program."""

from __future__ import annotations

import sympy

from netsor.derive.phrases import Formula, Phrase, listed


def gaussian(kind: str, element: sympy.Expr, mean: sympy.Expr | None, given: tuple[str, ...] = (), besides: str = "") -> Phrase:
    """"Given p, the vectors y[i] are jointly Gaussian with mean 0 and covariance", what follows being the formula of the covariance.

    ``kind`` is what the elements are called (in the plural), ``mean`` None where it is stated on a line of its own, ``given`` the scores
    that are given, ``besides`` what else is said of them."""
    many = bool(_letters(element))
    names = ["earlier scores"] if kind == "scores" else listed(map(sympy.Symbol, given))
    start = ["Given ", *names, ", "] if given else []
    subject = [f"the {kind} " if given else f"The {kind} ", element, " are jointly Gaussian"] if many else [element, " is Gaussian"]
    centre = [" with the mean above"] if mean is None else [" with mean ", mean]
    return Phrase.of(*start, *subject, *centre, f"{besides}, with" if besides else " and", " covariance" if many else " variance")


def conditioned(kind: str, element: sympy.Expr, given: list[sympy.Expr], explicit: bool) -> Phrase:
    """The law of scores that are correlated with earlier ones; ``explicit``: their conditional mean and covariance follow as formulas."""
    start = ["Given ", *listed(given), f", the {kind} ", element, " are jointly Gaussian with "]
    if explicit:
        return Phrase.of(*start, "mean and covariance")
    return Phrase.of(
        *start, "mean ", Formula("C21 C11^-1 p1", "C_{21} C_{11}^{-1} p_1"), " and covariance ",
        Formula("C22 - C21 C11^-1 C12", "C_{22} - C_{21} C_{11}^{-1} C_{12}"), ", ", Formula("p1", "p_1"), " being the scores that are given, ",
        Formula("C", "C"), " the covariances of ", Formula("p1", "p_1"), " and of these scores ", Formula("p2", "p_2"),
        ": beside those above")


def marginal(element: sympy.Expr, law: str) -> Phrase:
    """The law of an output over the scores."""
    return Phrase.of("Marginally ", element, f" is {law}, with")


def _letters(element: sympy.Expr) -> list[sympy.Symbol]:
    from netsor.derive.names import LoopNumber

    return [each for each in getattr(element, "indices", ()) if not isinstance(each, LoopNumber) and each.free_symbols]
