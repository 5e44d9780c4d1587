"""Sentences with formulas in them, read as text or as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy


@dataclass(frozen=True)
class Phrase:
    """``parts`` are words and SymPy expressions, in order; spaces stand in the words."""

    parts: tuple[str | sympy.Basic, ...]

    @staticmethod
    def of(*parts: str | sympy.Basic) -> "Phrase":
        return Phrase(tuple(parts))

    @property
    def formulas(self) -> list[sympy.Basic]:
        return [part for part in self.parts if isinstance(part, sympy.Basic)]

    def xreplace(self, names: Mapping) -> "Phrase":
        """The phrase with symbols replaced in its formulas."""
        return Phrase(tuple(part.xreplace(names) if isinstance(part, sympy.Basic) else part for part in self.parts))

    def text(self) -> str:
        """The phrase as a line of text."""
        from netsor.derive.printing.text import text

        return "".join(part if isinstance(part, str) else text(part) for part in self.parts)

    def latex(self) -> str:
        """The phrase in LaTeX, its formulas between dollar signs."""
        from netsor.derive.printing.latex import latex, words

        return "".join(words(part) if isinstance(part, str) else f"${latex(part)}$" for part in self.parts)

    def markdown(self) -> str:
        """The phrase in Markdown, its formulas between dollar signs."""
        from netsor.derive.printing.latex import latex

        return "".join(part if isinstance(part, str) else f"${latex(part)}$" for part in self.parts)


def listed(symbols) -> list[str | sympy.Basic]:
    """The symbols with commas between them."""
    return [part for k, symbol in enumerate(symbols) for part in ((", ", symbol) if k else (symbol,))]
