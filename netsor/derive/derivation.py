"""The limit of a program as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from netsor.derive.build import collect
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


class Derivation:
    """What a program tends to, as SymPy formulas; made by ``program.derive()``.

    ``statements`` are all equations, each after those that it mentions; ``lines`` are the same with the passes of a loop made one;
    ``inputs`` say what is given.
    ``derivation[name]`` is the right side of an equation by its left side as text."""

    def __init__(self, program: Program, outputs: list[str] | None = None, steps: bool = False):
        collector = collect(program, outputs, steps)
        self.program, self.steps = collector.program, steps
        self.analysis, self.names = collector.analysis, collector.names
        tidied = [statement.tidied() for statement in collector.statements]
        self.statements: list[Statement] = with_values_inserted(tidied, keep_lines=steps)
        self.lines: list[Statement] = outputs_last(with_loops(self.statements))
        self.inputs: list[Phrase] = collector.inputs

    # --- access ------------------------------------------------------------------------------------------------------

    def __getitem__(self, left: str) -> sympy.Expr:
        """The right side of the equation whose left side (or name) reads so, as in the text form; of the last one if there are several
        (a variance that is an average over an infinite axis, and then that average worked out).

        :raises KeyError: with the left sides there are."""
        from netsor.derive.printing.text import left_side, text

        for statement in (*reversed(self.lines), *self.statements):
            for part in (statement, *statement.where):
                if left == left_side(part) or (part.name is not None and left == text(part.name)):
                    return part.right
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

    # --- numbers -----------------------------------------------------------------------------------------------------

    def evaluate(
        self, params: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None, scores: Mapping[str, Any] | None = None,
    ) -> dict[str, np.ndarray]:
        """Numbers of the equations for scalars, scores, outputs and their moments, by left side; arrays over the indices there.

        :param params: values of parameters; those in the program by default.
        :param data: arrays of ``data`` statements; those in the program by default.
        :param scores: values of scores by name (or label, where a loop makes several), arrays over their axes.  What is conditional on
            scores that are not given is left out, and so is what has no closed form as an expectation over scores, or needs quasi-random
            points as one over several variables: ``program.limit()`` gives these with their errors.
        :returns: float arrays (0-dimensional where there are no indices).
        :raises NetsorError: for a parameter that there is not (N205), that is a number in these formulas and another one there (N504), or
            that has no value (N503, as data without numbers)."""
        from netsor.derive.given import check_given
        from netsor.derive.evaluate import Evaluation, Unknown
        from netsor.derive.printing.text import left_side

        check_given(self.program, params or {}, data or {})
        values = {**self.defaults(), **(params or {})}
        arrays = {array.name: array.values for array in self.program.arrays if array.definition is None}
        evaluation = Evaluation(self.statements, values, {**arrays, **(data or {})}, self._score_arrays(scores or {}, values))
        result: dict[str, np.ndarray] = {}
        for statement in self.statements:
            if statement.section in ("given", "kernels"):
                continue
            try:
                result[left_side(statement)] = _array(statement, evaluation)
            except (Unknown, ZeroDivisionError):  # no number, or a formula that is singular at these values (a variance of 0)
                continue
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
