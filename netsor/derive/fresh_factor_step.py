"""Why the mean of a score vanishes and its law is Gaussian: the step about its fresh factor."""

from __future__ import annotations

import sympy

from netsor.derive.names import Letters
from netsor.derive.phrases import Phrase, listed
from netsor.derive.statement import Expected, Statement
from netsor.ir.expressions import ZERO, Expr
from netsor.ir.program import Family
from netsor.limit.fresh_factor import Together

CITATION = "Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846: the summands are centred, and stay so given all other matrices"


class FreshFactorStep:
    """E[u v] = 0 for the two sides of a score, and how they change with the sign of the fresh factor."""

    expression: Expr = ZERO

    def __init__(self, score: Family, analysis):
        self.score, self.analysis = score, analysis

    @property
    def order(self) -> int:
        """Its place in the program."""
        return self.score.order

    def state(self, collector) -> None:
        factor = self.analysis.fresh.of(self.score)
        if factor is None:
            return
        letters = Letters()
        sources = factor.sources if isinstance(factor, Together) else [factor]
        owners = [sympy.Symbol(name) for name in dict.fromkeys(str(source.owner) for source in sources)]
        sides = (self.score.definition.left, self.score.definition.right)
        elements = [collector.convert(side, letters) for side in sides]
        changes = [self._changes(side, factor) for side in sides]
        law = Phrase.of("If ", *listed(owners), " changes sign" if len(owners) == 1 else " change sign", ", ", elements[0], f" {changes[0]} and ", elements[1], f" {changes[1]}, and so do the "
                        "summands of ", collector.names.element(self.score, [letters.of(axis) for axis in self.score.axes]), "; hence")
        collector.statements.append(Statement(
            "scores", Expected(*elements), sympy.S.Zero, "fresh factor", CITATION, law=law,
            axes=letters.axes(lambda e: collector.convert(e, letters))))

    def _changes(self, side, factor) -> str:
        parity = self.analysis.recursion.sources.product_parity((side,), factor)
        return {1: "stays", -1: "changes sign"}.get(parity, "changes")
