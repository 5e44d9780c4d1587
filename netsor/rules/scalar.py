"""Functions of scalars: softmax weights, norms, anything computed from scores and moments."""

from __future__ import annotations

from netsor.ir.facts import Randomness
from netsor.ir.labelled import Labelled
from netsor.ir.program import Family, ScalarFunction
from netsor.rules.base import Rule


class ScalarRule(Rule):
    """The same function of the limits (continuous mapping)."""

    name = "Function of scalars"
    definition = ScalarFunction
    statement = "c -> the same function of the limits"
    citation = "continuous mapping theorem"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "S" if randomness.scores(family) else "C"

    def finite(self, family: Family, sampler) -> Labelled:
        return sampler.evaluate(family.definition.body)
