"""``input mask ~ Bernoulli(keep)`` and its kin: vectors with iid coordinates of a law that is not Gaussian."""

from __future__ import annotations

from netsor.ir.evaluate import function_of_leaf
from netsor.ir.expressions import Coord, Expr, Leaf
from netsor.ir.facts import Randomness
from netsor.ir.labelled import SAMPLE, Labelled
from netsor.ir.laws import Law
from netsor.ir.program import Family, Iid
from netsor.rules.base import AtomRule, Source


class IidRule(AtomRule):
    """Z has the law itself, independent of everything else; elements with different subscripts are independent."""

    name = "Input (not Gaussian)"
    definition = Iid
    statement = "Z^m ~ the stated law, independent of all other inputs and matrices"
    citation = "extension of Yang 2019, arXiv:1910.12478 (Tensor Programs I), Definition 4.1: the law of a function of Gaussian inputs"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "H"

    def source(self, reference: Coord) -> Source:
        return Source.of(reference.family, reference.subscripts)

    def mean(self, reference: Coord) -> Expr:
        return self.law(reference).moment(1)

    def symmetric(self, reference: Coord) -> bool:
        return self.law(reference).symmetric

    def law(self, reference: Coord) -> Law:
        """The law of one element."""
        family = reference.family
        return family.definition.law.substitute(dict(zip(family.axes, reference.subscripts)))

    def finite(self, family: Family, sampler) -> Labelled:
        """Coordinates as functions of normal numbers (:meth:`netsor.ir.laws.Law.of_normal`)."""
        drawn = sampler.normal((SAMPLE, sampler.points[family.width], *family.axes))
        return function_of_leaf(family.definition.law.of_normal(Leaf(0, family.axes)), drawn, sampler)
