"""``dot(u, v)/n`` and ``avg(e)``: averages over the width."""

from __future__ import annotations

from netsor.ir.facts import Randomness
from netsor.ir.labelled import Labelled
from netsor.ir.program import Family, Moment
from netsor.rules.base import Rule


class MomentRule(Rule):
    """The average converges to E[Z^e | random scalars]: a number, or a function of the scores that it depends on."""

    name = "Moment"
    definition = Moment
    statement = "avg(e) -> E[Z^e | scores]"
    citation = "Yang 2019, arXiv:1910.12478 (Tensor Programs I), Theorem 5.4 (NETSOR+ for uses of the moment)"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "S" if randomness.scores(family) else "C"

    def finite(self, family: Family, sampler) -> Labelled:
        return sampler.average(sampler.evaluate(family.definition.body))
