"""From a program to its derivation: one function, read from top to bottom."""

from __future__ import annotations

import sympy

from netsor.derive.collect import Collector
from netsor.derive.marginal import marginal_laws
from netsor.derive.printing.text import text
from netsor.derive.score_moments import ScoreMoments
from netsor.derive.names import Letters
from netsor.derive.statement import Covariance, Expected, Statement
from netsor.ir.expressions import Expr
from netsor.ir.kernel import Kernel
from netsor.ir.program import Output, Program
from netsor.language.selection import selected
from netsor.limit.analysis import Analysis
from netsor.limit.failures import as_diagnostics
from netsor.limit.limits import TooMuchWork
from netsor.limit.recursion import copy, generic
from netsor.rules import rule_of

MOST_PARTS = 150  # of an output: their covariances are as many as pairs


def collect(program: Program, outputs: list[str] | None = None, steps: bool = False) -> Collector:
    """Everything that the outputs of a program (all, or those named) rest on, as statements.

    :raises NetsorError: if the theorem does not cover the program (N4); for a name that is no output (N220)."""
    selected(program, outputs or ())  # refuses other names
    with as_diagnostics():
        analysis = Analysis(program, whole_kernels=True)
        program = analysis.program  # without transposes, with the same limit
        wanted = [output for output in program.outputs if outputs is None or output.name in outputs]
        laws = [law for output in wanted for law in output_laws(output, analysis)]
        scores = score_laws(analysis)
        collector = Collector(program, analysis, steps)
        scalars = [part.reference for output in wanted if not output.is_vector for part in output.parts]
        collector.asked.update(scalar.family for scalar in scalars)
        collector.reach([law.expression for law in scores + laws] + scalars)
        for key in list(analysis.recursion.known()) if steps else ():
            collector.require_kernel(key)
        for law in scores + laws:
            collector.require(law.expression)
            law.state(collector)
        for scalar in scalars:
            collector.require(scalar)
            collector.require_scalar(scalar.family)
        moments = ScoreMoments(analysis)
        for law in laws:
            if law.kind == "covariance":
                collector.statements += marginal_laws(*law.references, law.kernel, moments, collector)
    return collector


class LawOf:
    """A mean or a covariance that is to be stated: of a score, or of an output given the scores."""

    def __init__(self, section, kind, references, kernel: Kernel, rule, citation, earlier: tuple = ()):
        self.earlier = earlier  # scores of the same group
        self.section, self.kind, self.references, self.kernel = section, kind, references, kernel
        self.rule, self.citation = rule, citation

    @property
    def expression(self) -> Expr:
        return self.kernel.expression()

    def state(self, collector: Collector) -> None:
        letters = Letters()
        names, convert = collector.names, collector.convert
        elements = [names.element(r.family, [convert(s, letters) for s in r.subscripts]) for r in self.references]
        axes = letters.axes(lambda e: convert(e, letters))
        total = sympy.S.Zero
        for (equalities, _), coefficient in self.kernel.limit().terms.items():
            total += collector.delta(equalities, letters) * convert(coefficient, letters)
        families = tuple(reference.family for reference in self.references)
        given = () if self.earlier else collector.scores_of(*families)
        left = (Expected if self.kind == "mean" else Covariance)(*elements)
        collector.statements.append(Statement(
            self.section, left, total, self.rule, collector.cited(self.citation), given=given, axes=axes,
            law=self.law(collector, text(elements[0]), given)))

    def law_of_score(self, collector: Collector, family, name: str, given: tuple[str, ...]) -> str:
        """Scores that are correlated with earlier ones are conditioned on these; others are centred."""
        if self.earlier:
            before = ", ".join(dict.fromkeys(each.label for each in self.earlier))
            return f"{name} Gaussian given p1 = {before}: mean C21 C11^-1 p1, covariance C22 - C21 C11^-1 C12, with C their covariances"
        return f"{name} jointly Gaussian with mean 0, independent of all vectors" + (", given the scores before" if given else "")

    def law(self, collector: Collector, name: str, given: tuple[str, ...]) -> str:
        """In words how the scores or the output are distributed; nothing for what is stated about two different families."""
        family, *others = {reference.family for reference in self.references}
        if self.kind == "mean" or others:
            return ""
        if self.section == "scores":
            return self.law_of_score(collector, family, name, given)
        if not collector.recursion.forms.is_gaussian(family):
            return ""
        centred = collector.recursion.moment(generic(family, "x")).is_zero
        return f"{name} jointly Gaussian" + (" with mean 0" if centred else "") + (f", given {', '.join(given)}" if given else "")


def score_laws(analysis: Analysis) -> list[LawOf]:
    """The covariances of the scores of each group, given earlier scores."""
    laws = []
    for group in analysis.groups:
        families = group.families
        for k, one in enumerate(families):
            for other in (one, *families[:k]):
                rule = rule_of(one)
                left, right = (family[tuple(copy(axis, side) for axis in family.axes)] for family, side in ((one, "x"), (other, "y")))
                kernel = rule.covariance(left, right, analysis.recursion.moment)
                laws.append(LawOf("scores", "covariance", (left, right), kernel, rule.name, rule.citation, tuple(families[:k])))
    return laws


def output_laws(output: Output, analysis: Analysis) -> list[LawOf]:
    """Mean and covariance of the parts of an output, given the scores."""
    laws = []
    families = list(dict.fromkeys(part.reference.family for part in output.parts))
    if output.is_vector and len(families) > MOST_PARTS:
        raise TooMuchWork(
            f"`{output.name}` has {len(families):,} parts with definitions of their own, each pair of which has its formula",
            hint=f"ask for a part of it: output {output.parts[0].reference.family.label}")
    for k, one in enumerate(families):
        if one.is_sampled or not output.is_vector:
            continue
        rule = rule_of(one)
        name = "LinComb" if one.kind == "G" and rule.name == "Nonlin" else rule.name
        x = generic(one, "x")
        mean = analysis.recursion.moment(x)
        if not mean.is_zero:
            laws.append(LawOf("outputs", "mean", (x,), mean, name, rule.citation))
        for other in families[: k + 1]:
            y = generic(other, "y")
            laws.append(LawOf("outputs", "covariance", (x, y), analysis.recursion.covariance(x, y), name, rule.citation))
    return laws
