"""Sentences with formulas in them, read as text or as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy


@dataclass(frozen=True)
class Formula:
    """A formula that is no SymPy expression, as text and in LaTeX."""

    shown: str
    tex: str


@dataclass(frozen=True)
class Equation:
    """``left = right``."""

    left: sympy.Basic
    right: sympy.Basic


@dataclass(frozen=True)
class Phrase:
    """``parts`` are words and formulas, in order; spaces stand in the words."""

    parts: tuple[str | sympy.Basic | Formula | Equation, ...]

    @staticmethod
    def of(*parts: str | sympy.Basic | Formula | Equation) -> "Phrase":
        return Phrase(tuple(parts))

    def xreplace(self, names: Mapping) -> "Phrase":
        """The phrase with symbols replaced in its formulas."""
        def replaced(part):
            if isinstance(part, Equation):
                return Equation(part.left.xreplace(names), part.right.xreplace(names))
            return part.xreplace(names) if isinstance(part, sympy.Basic) else part

        return Phrase(tuple(map(replaced, self.parts)))

    def reworded(self, words: str, others: str) -> "Phrase":
        """The phrase with other words in the place of some."""
        return Phrase(tuple(part.replace(words, others) if isinstance(part, str) else part for part in self.parts))

    def text(self) -> str:
        """The phrase as a line of text."""
        from netsor.derive.printing.text import text

        return self._joined(str, text, lambda formula: formula.shown, "")

    def latex(self) -> str:
        """The phrase in LaTeX, its formulas between dollar signs."""
        from netsor.derive.printing.latex import latex, words

        return self._joined(words, latex, lambda formula: formula.tex, "$")

    def markdown(self) -> str:
        """The phrase in Markdown, its formulas between dollar signs."""
        from netsor.derive.printing.latex import latex

        return self._joined(str, latex, lambda formula: formula.tex, "$")

    def _joined(self, word, expression, formula, sign: str) -> str:
        """The parts one after another, formulas between signs."""
        def shown(part) -> str:
            if isinstance(part, str):
                return word(part)
            if isinstance(part, Equation):
                return f"{sign}{expression(part.left)} = {expression(part.right)}{sign}"
            return f"{sign}{formula(part) if isinstance(part, Formula) else expression(part)}{sign}"

        return "".join(map(shown, self.parts))


def listed(symbols) -> list[str | sympy.Basic]:
    """The symbols with commas between them."""
    return [part for k, symbol in enumerate(symbols) for part in ((", ", symbol) if k else (symbol,))]


def condition(text: str) -> Formula:
    """``l = 1..4``, for which passes of a loop something holds."""
    return Formula(text, text.replace("..", r",\ldots,"))
