"""The third reading of a program: its limit as formulas.

The recursion of :mod:`netsor.limit` is run on a program whose parameters stay symbols; its equations are read by SymPy instead of
NumPy, so that formulas and numbers cannot drift apart.

- :mod:`netsor.derive.build`: from a program to statements, read from top to bottom
- :mod:`netsor.derive.collect`: what is named, what is written out, in which order
- :mod:`netsor.derive.convert`, ``expectations``, ``closed_forms``: the scalar language in SymPy, Gaussian expectations in closed form
- :mod:`netsor.derive.marginal`, ``score_moments``: expectations over the scores
- :mod:`netsor.derive.layers`: loops as one line
- :mod:`netsor.derive.evaluate`: numbers from the formulas
- :mod:`netsor.derive.printing`: text, Markdown, LaTeX, JSON
"""

from netsor.derive.derivation import Derivation

__all__ = ["Derivation"]
