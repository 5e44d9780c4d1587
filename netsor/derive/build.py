"""From a program to its derivation: one function, read from top to bottom."""

from __future__ import annotations

import sympy

from netsor.derive import laws
from netsor.derive.collect import Collector
from netsor.derive.conditional import ConditionalLaw
from netsor.derive.fresh_factor_step import FreshFactorStep
from netsor.derive.inputs import inputs
from netsor.derive.marginal import marginal_laws
from netsor.derive.phrases import Phrase
from netsor.derive.score_moments import ScoreMoments
from netsor.derive.names import Letters
from netsor.derive.statement import Covariance, Expected, Statement
from netsor.ir.expressions import Expr
from netsor.ir.kernel import Kernel
from netsor.ir.program import Output, Program, Score
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
        outputs_laws = [law for output in wanted for law in output_laws(output, analysis)]
        scores = score_laws(analysis, steps)
        collector = Collector(program, analysis, steps)
        scalars = [part.reference for output in wanted if not output.is_vector for part in output.parts]
        collector.asked.update(scalar.family for scalar in scalars)
        collector.reach([law.expression for law in scores + outputs_laws] + scalars)
        if steps:  # in the order of the program
            keys = [(*_earliest(key), collector.require_kernel, key) for key in analysis.recursion.known()]
            stated = [(law.order, 2, collector.state, law) for law in scores]
            for *_, method, each in sorted(keys + stated, key=lambda entry: entry[:2]):
                method(each)
        for law in outputs_laws if steps else scores + outputs_laws:
            collector.state(law)
        for scalar in scalars:
            collector.require(scalar)
            collector.require_scalar(scalar.family)
        moments = ScoreMoments(analysis)
        for law in outputs_laws:
            if law.kind == "covariance":
                collector.statements += marginal_laws(*law.references, law.kernel, moments, collector)
        collector.inputs = inputs(collector, [part.reference.family for output in wanted for part in output.parts])
    return collector


def _earliest(key: tuple) -> tuple[int, int]:
    """Where the moment of a key stands among steps: with the latest of its families, means first."""
    kind, *families = key
    return max(family.order for family in families), int(kind != "mean")


class LawOf:
    """A mean or a covariance that is to be stated: of a score, or of an output given the scores."""

    def __init__(self, section, kind, references, kernel: Kernel, rule, citation, earlier: tuple = (), explicit: bool = False):
        self.earlier, self.explicit = earlier, explicit  # scores of the same group, and whether their conditional law has formulas
        self.section, self.kind, self.references, self.kernel = section, kind, references, kernel
        self.rule, self.citation = rule, citation

    @property
    def expression(self) -> Expr:
        return self.kernel.expression()

    @property
    def order(self) -> int:
        """Its place in the program."""
        return self.references[0].family.order

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
        statement = Statement(
            self.section, left, total, self.rule, collector.cited(self.citation), given=given, axes=axes,
            law=self.law(collector, elements[0], letters, given))
        collector.statements.append(statement)

    def law(self, collector: Collector, element: sympy.Expr, letters: Letters, given: tuple[str, ...]) -> Phrase | None:
        """How the scores or the output are distributed; nothing for what is stated about two different families."""
        family, *others = {reference.family for reference in self.references}
        if self.kind == "mean" or others:
            return None
        if self.section == "scores":
            kind = "scores" if isinstance(family.definition, Score) else "scalars"
            if self.explicit:
                return None
            if self.earlier:
                before = [generic(each, "x") for each in self.earlier]
                shown = [collector.names.element(r.family, [letters.of(s) for s in r.subscripts]) for r in before]
                return laws.conditioned(kind, element, list(dict.fromkeys(shown)), False)
            mean = collector.convert(rule_of(family).mean(self.references[0]), letters)
            return laws.gaussian(kind, element, mean, given, ", independent of all vectors")
        if not collector.recursion.forms.is_gaussian(family):
            return None
        centred = collector.recursion.moment(generic(family, "x")).is_zero
        return laws.gaussian("vectors", element, sympy.S.Zero if centred else None, given)


def score_laws(analysis: Analysis, steps: bool = False) -> list[LawOf | ConditionalLaw | FreshFactorStep]:
    """The covariances of the scores of each group, and their laws given earlier scores of the group."""
    found: list[LawOf | ConditionalLaw | FreshFactorStep] = []
    for group in analysis.groups:
        families = group.families
        for k, one in enumerate(families):
            earlier = tuple(families[:k])
            conditional = ConditionalLaw(one, earlier, analysis.recursion.moment)
            explicit = bool(earlier) and conditional.is_explicit
            if isinstance(one.definition, Score) and steps:
                found.append(FreshFactorStep(one, analysis))
            for other in (one, *earlier):
                rule = rule_of(one)
                left, right = (family[tuple(copy(axis, side) for axis in family.axes)] for family, side in ((one, "x"), (other, "y")))
                kernel = rule.covariance(left, right, analysis.recursion.moment)
                found.append(LawOf("scores", "covariance", (left, right), kernel, rule.name, rule.citation, earlier, explicit))
            if explicit:
                found.append(conditional)
    return found


def output_laws(output: Output, analysis: Analysis) -> list[LawOf]:
    """Mean and covariance of the parts of an output, given the scores."""
    found = []
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
            found.append(LawOf("outputs", "mean", (x,), mean, name, rule.citation))
        for other in families[: k + 1]:
            y = generic(other, "y")
            found.append(LawOf("outputs", "covariance", (x, y), analysis.recursion.covariance(x, y), name, rule.citation))
    return found
