"""The limit of a program as formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np
import sympy

from netsor.derive.build import collect
from netsor.derive.equations import Equations
from netsor.derive.insertion import with_values_inserted
from netsor.derive.layers import with_loops
from netsor.derive.phrases import Phrase
from netsor.derive.statement import Statement, outputs_last
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Index, Sym
from netsor.ir.facts import parts
from netsor.ir.kernel import ends
from netsor.ir.program import Program
from netsor.ir.rewrite import walk
from netsor.language.constants import functions

TITLES = {
    "given": "Given", "kernels": "Kernels", "scalars": "Functions of scalars", "scores": "Law of the scores",
    "outputs": "Law of the outputs", "moments": "Over the scores",
}


class Values(dict):
    """Arrays by left side; ``missing`` gives the reason for each left side that has no number."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: dict[str, str] = {}

    def __missing__(self, left: str):
        raise KeyError(f"{left} has no number: {self.missing[left]}" if left in self.missing else left)

    def __repr__(self) -> str:
        absent = f", missing {self.missing}" if self.missing else ""
        return f"<values {super().__repr__()}{absent}>"


class Derivation:
    """What a program tends to, as SymPy formulas; made by ``program.derive()``.

    ``statements`` are all equations, each after those that it mentions; ``lines`` are the same with the passes of a loop made one;
    ``inputs`` say what is given.
    ``derivation[name]`` is the right side of an equation by its left side as text."""

    def __init__(self, program: Program, outputs: list[str] | None = None, steps: bool = False):
        collector = collect(program, outputs, steps)
        self.program, self.steps = collector.program, steps
        self.analysis, self.names = collector.analysis, collector.names
        self.inputs: list[Phrase] = collector.inputs
        tidied = [statement.tidied() for statement in collector.statements]
        self._set(with_values_inserted(tidied, keep_lines=steps))

    def _set(self, statements: list[Statement]) -> None:
        self.statements: list[Statement] = statements
        self.lines: list[Statement] = outputs_last(with_loops(statements))

    # --- access ------------------------------------------------------------------------------------------------------

    def __getitem__(self, left: str) -> sympy.Expr:
        """The right side of the equation whose left side (or name) reads so, as in the text form; of the last one if there are several
        (a variance that is an average over an infinite axis, and then that average worked out).

        :raises KeyError: with the left sides there are."""
        return self._statement(left, (*reversed(self.lines), *reversed(self.statements))).right

    def _statement(self, left: str, statements: Iterable[Statement]) -> Statement:
        from netsor.derive.printing.text import left_side, text

        for statement in statements:
            for part in (statement, *statement.where):
                if left == left_side(part) or (part.name is not None and left == text(part.name)):
                    return part
        raise KeyError(f"{left!r} is not among: {', '.join(self.keys())}")

    def keys(self) -> list[str]:
        """The left sides of the equations, as text."""
        from netsor.derive.printing.text import left_side

        return [left_side(statement) for statement in self.lines]

    @property
    def free(self) -> list[str]:
        """Names of the parameters that are symbols."""
        return [name for name, value in self.program.parameters.items() if value is None]

    @property
    def theorem(self):
        """What the limit stands on: name, whether it is proved, and the reason."""
        return self.analysis.theorem

    # --- without names, and derivatives --------------------------------------------------------------------------------

    def unfolded(self, formula: str | sympy.Expr, only: Collection[str] | None = None) -> sympy.Expr:
        """A right side (by its left side) or a formula with the right sides of equations in the place of the names that it mentions, so
        that SymPy sees what depends on what: kernels by kernels before them, correlations by the kernels that they are made of.

        The formula grows with every layer by as many times as a layer mentions the one before, and the number of operations with it:
        for a few layers; see :meth:`derivative` for many.

        :param only: unfold these names alone (``["rho_K"]``); by default all, down to parameters, data and scores.
        :raises KeyError: for a left side that there is not."""
        expr = self._statement(formula, (*reversed(self.statements), *self.lines)).right if isinstance(formula, str) else formula
        return Equations(self.statements).unfolded(expr, only)

    def derivative(self, left: str, by: str | sympy.Symbol) -> "Derivation":
        """The total derivative of a quantity by a parameter, through all equations between them, as a derivation of its own: the
        equations that there were and one more for each that depends on the parameter, ``dK_h`` for ``K_h``, the last one for what
        was asked.  It has as many equations again, however deep the network.

        :param left: a left side, as text.  What is conditional on scores is differentiated at fixed scores.
        :param by: a free parameter, or its name.  By an element of a kernel, ``sympy.diff`` is right for what is unfolded.
        :raises KeyError: for a left side that there is not.
        :raises NetsorError: for what is no free parameter (N205).
        :raises ValueError: where a formula has no derivative: jumps, maxima over an index, expectations over scores."""
        from netsor.derive.chain_rule import ChainRule

        statement = self._statement(left, (*reversed(self.statements), *self.lines))
        rule = ChainRule(Equations(self.statements), self._parameter(str(by)), frozenset(map(str, self._symbols())))
        last = rule.differentiated(statement).tidied()
        found = copy(self)
        found._set([*self.statements, *[each.tidied() for each in rule.found], last])
        return found

    def _symbols(self) -> set[sympy.Symbol]:
        return set().union(*(
            expr.atoms(sympy.Symbol) for each in self.statements for part in (each, *each.where) for expr in (part.symbol, part.right)))

    def _parameter(self, name: str) -> sympy.Symbol:
        """The symbol of a free parameter.

        :raises NetsorError: if it is none (N205)."""
        from netsor.language.diagnostics import Diagnostic, NetsorError

        if name not in self.free:
            there = ", ".join(f"`{each}`" for each in self.free) or "none"
            raise NetsorError(Diagnostic("N205", f"`{name}` is no free parameter of these formulas", hint=f"there are: {there}"))
        return next((symbol for symbol in self._symbols() if symbol.name == name), sympy.Symbol(name, real=True))

    # --- numbers -----------------------------------------------------------------------------------------------------

    def evaluate(
        self, params: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None, scores: Mapping[str, Any] | None = None,
    ) -> "Values":
        """Numbers of the equations for scalars, scores, outputs and their moments, by left side; arrays over the indices there.

        :param params: values of parameters; those in the program by default.
        :param data: arrays of ``data`` statements; those in the program by default.
        :param scores: values of scores by name (or label, where a loop makes several), arrays over their axes.
        :returns: float arrays (0-dimensional where there are no indices).  Left out, and listed with the reason in its ``missing``, is
            what is conditional on scores that are not given, what has no closed form as an expectation over scores, or needs quasi-random
            points as one over several variables (``program.limit()`` gives these with their errors), and what is singular here.
        :raises NetsorError: for a parameter that there is not (N205), that is a number in these formulas and another one there (N504), or
            that has no value (N503, as data without numbers)."""
        from netsor.derive.given import check_given
        from netsor.derive.evaluate import Evaluation, Unknown
        from netsor.derive.printing.text import left_side

        check_given(self.program, params or {}, data or {})
        values = {**self.defaults(), **(params or {})}
        arrays = {array.name: array.values for array in self.program.arrays if array.definition is None}
        evaluation = Evaluation(self.statements, values, {**arrays, **(data or {})}, self._score_arrays(scores or {}, values))
        result = Values()
        for statement in self.statements:
            if statement.section in ("given", "kernels"):
                continue
            left = left_side(statement)
            try:
                result[left] = _array(statement, evaluation)
            except Unknown as error:
                result.missing[left] = str(error)
            except ZeroDivisionError:
                result.missing[left] = "the formula is singular at these values: a variance of 0, or a division by 0"
        return result

    def defaults(self) -> dict[str, Any]:
        """The values that the program gives to its free parameters."""
        found: dict[str, Any] = {}
        program = self.program
        expressions = [bound for range_ in program.ranges for bound in range_.bounds or ()]
        expressions += [matrix.variance for matrix in program.matrices]
        expressions += [array.definition for array in program.arrays if array.definition is not None]
        expressions += [part for family in program.families for part in parts(family)]
        for expr in expressions:
            for part in walk(expr):
                if isinstance(part, Sym) and not part.infinite:
                    found[part.name] = part.trial
        return found

    def _score_arrays(self, scores: Mapping[str, Any], values: Mapping[str, Any]) -> dict[tuple, tuple]:
        lowest = lambda axis: 1 if axis.range.infinite else round(Evaluator(functions, dict(values)).number(ends(axis.range)[0]))  # noqa: E731
        found: dict[tuple, tuple] = {}
        for family in self.program.families:
            given = next((scores[name] for name in (family.label, family.name, self.names.family(family)) if name in scores), None) if family.is_sampled else None
            if given is not None:
                fixed = tuple(None if isinstance(part, Index) else part for part in family.pattern)
                found[self.names.family(family), fixed] = (np.asarray(given, dtype=float), [lowest(axis) for axis in family.axes])
        return found

    # --- presentation ------------------------------------------------------------------------------------------------

    @property
    def hypotheses(self) -> list[str]:
        """What the limit rests on, one sentence each."""
        return [phrase.text() for phrase in self.premises()]

    def premises(self) -> list[Phrase]:
        """The hypotheses as phrases, with their formulas."""
        from netsor.derive.hypotheses import hypotheses

        return hypotheses(self)

    def sections(self) -> list[tuple[str, list]]:
        """Titles and lines, consecutive lines of one kind together; what is given (beside ``inputs``) first."""
        result: list[tuple[str, list]] = [(TITLES["given"], [])]
        for line in sorted(self.lines, key=lambda line: line.section != "given"):
            title = TITLES[line.section]
            if result[-1][0] != title:
                result.append((title, []))
            result[-1][1].append(line)
        return result

    def text(self) -> str:
        """The derivation as text."""
        from netsor.derive.printing.text import document

        return document(self)

    def markdown(self) -> str:
        """The derivation as Markdown with mathematics between dollar signs."""
        from netsor.derive.printing.markdown import document

        return document(self)

    def latex(self) -> str:
        """The derivation as a LaTeX document."""
        from netsor.derive.printing.latex import document

        return document(self)

    def sympy_code(self) -> str:
        """The derivation as Python code that makes the SymPy formulas."""
        from netsor.derive.printing.sympy_code import document

        return document(self)

    def json(self) -> dict[str, Any]:
        """The derivation as plain data."""
        from netsor.derive.printing.json import document

        return document(self)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_latex_(self) -> str:
        from netsor.derive.printing.latex import body

        return body(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<derivation of {self.program.name}: {', '.join(self.keys())}>"


def _array(statement: Statement, evaluation) -> np.ndarray:
    sizes, lows = [], []
    for _, low, high in statement.axes:
        first, last = round(evaluation(low)), round(evaluation(high))
        lows.append(first)
        sizes.append(last - first + 1)
    values = np.empty(sizes)
    for place in np.ndindex(*sizes):
        letters = {axis[0]: low + position for axis, low, position in zip(statement.axes, lows, place)}
        values[place] = evaluation(statement.right, letters)
    return values
