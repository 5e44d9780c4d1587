"""What a derivation takes for granted, in words."""

from __future__ import annotations

import sympy

from netsor.derive.boundedness import unbounded
from netsor.derive.layers import with_loops
from netsor.derive.names import Letters
from netsor.derive.phrases import Phrase, condition, listed
from netsor.derive.statement import Statement
from netsor.ir.program import Score
from netsor.limit.fresh_factor import Together


def hypotheses(derivation) -> list[Phrase]:
    """One sentence for each hypothesis."""
    program, analysis = derivation.program, derivation.analysis
    theorem = analysis.theorem
    found = [Phrase.of(f"{'Theorem' if theorem.proved else 'Extension'}: {theorem.name}" + (f" ({theorem.reason})" if theorem.reason else ""))]
    if program.matrices:
        found.append(Phrase.of(
            f"Entries of matrices are iid Gaussian, matrices and inputs independent of each other; {program.width} → ∞ "
            "with everything else fixed"))
    scores = [f for f in analysis.program.families if isinstance(f.definition, Score) and f in analysis.needed_scores()]
    if theorem.proved and (beyond := unbounded(scores)):
        elements = dict.fromkeys(_merged([(_element(derivation, family), sympy.S.Zero) for family in beyond]))
        found.append(Phrase.of(
            "The theorem on scores is stated for bounded functions; ", *listed(each for each, _, _ in elements),
            (" are" if len(elements) > 1 else " is") + " not bounded"))
    factors = [(_element(derivation, family), analysis.fresh.of(family)) for family in scores]
    pairs = [(element, sympy.Tuple(sympy.Integer(isinstance(factor, Together)), *map(sympy.Symbol, _owners(factor))))
             for element, factor in factors if factor is not None]
    for element, factor, passes in _merged(pairs):
        together, *names = factor
        words = " together: its summands are odd in them" if together else ": its summands are odd in it"
        owners = [" and " if part == ", " else part for part in listed(names)]
        found.append(Phrase.of(element, " has the fresh factor ", *owners, words, *([", ", condition(passes)] if passes else [])))
    return found


def _owners(factor) -> list[str]:
    sources = factor.sources if isinstance(factor, Together) else [factor]
    return list(dict.fromkeys(str(source.owner) for source in sources))


def _element(derivation, family) -> sympy.Expr:
    letters = Letters()
    return derivation.names.element(family, [letters.of(axis) for axis in family.axes])


def _merged(pairs: list[tuple[sympy.Expr, sympy.Expr]]) -> list[tuple[sympy.Expr, sympy.Expr, str]]:
    """The pairs with the passes of a loop made one, and for which passes they hold."""
    merged = with_loops([Statement("given", left, right, "") for left, right in pairs])
    return [(each.left, each.right, each.condition) for each in merged]
