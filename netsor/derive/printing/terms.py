"""The order in which the terms of a sum are written."""

from __future__ import annotations

import sympy


class PositiveFirst:
    """Mixed into a printer: a sum begins with a term without a minus sign if it has one, W_2 - W_1^2 and not -W_1^2 + W_2."""

    def _as_ordered_terms(self, expr: sympy.Add, order=None) -> list[sympy.Expr]:
        terms = list(super()._as_ordered_terms(expr, order=order))
        first = next((place for place, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
        return [terms[first], *terms[:first], *terms[first + 1:]]
