"""``input g : 1 ~ N(mean, K)``: scalars that are drawn once, whatever the width."""

from __future__ import annotations

from netsor.ir.expressions import Expr, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.kernel import Kernel
from netsor.ir.labelled import SAMPLE, Labelled, align, contract
from netsor.ir.program import Family, RandomScalar
from netsor.ir.rewrite import substitute
from netsor.rules.base import Moments, Rule
from netsor.rules.given import covariance_root, stated_covariance


class RandomScalarRule(Rule):
    """Gaussian with the stated mean and covariance at every width, independent of all inputs and matrices.

    Given its value the program is one with one constant more; results are mixtures over it, as over scores."""

    name = "Input (scalar)"
    definition = RandomScalar
    statement = "g ~ N(mean, K) at every n, independent of all other inputs and matrices; the limit is taken given g"
    citation = "conditioning on an independent variable"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "S"

    def mean(self, reference: ScalarRef) -> Expr:
        family = reference.family
        return substitute(family.definition.mean, dict(zip(family.axes, reference.subscripts)))

    def covariance(self, left: ScalarRef, right: ScalarRef, moment: Moments) -> Kernel:
        return stated_covariance(left, right) if left.family is right.family else Kernel()

    def finite(self, family: Family, sampler) -> Labelled:
        root = covariance_root(family, sampler)
        columns = root.labels[len(family.axes):]
        batch = tuple(axis for axis, second in zip(family.axes, family.definition.second) if second is None)
        shape = (sampler.runs, *[sampler.size(axis) for axis in batch], *[sampler.size(column) for column in columns])
        noise = Labelled(sampler.rng.standard_normal(shape), (SAMPLE, *batch, *columns))
        drawn = contract([root, noise], family.axes)
        (centred, shift), labels = align([drawn, sampler.evaluate(family.definition.mean)])
        return Labelled(centred + shift, labels)
