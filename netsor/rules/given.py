"""``input h[i] ~ N(mean, K)``: vectors with iid coordinates that are drawn at the start."""

from __future__ import annotations

import numpy as np

from netsor.expectation.linear_algebra import psd_root
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import ZERO, Coord, Expr, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.kernel import Kernel
from netsor.ir.labelled import SAMPLE, Labelled, align, contract
from netsor.ir.program import Family, Given
from netsor.ir.rewrite import substitute
from netsor.rules.base import GaussianRule, Moments, Source


class GivenRule(GaussianRule):
    """Z^h is Gaussian with the stated mean and covariance, independent of everything earlier."""

    name = "Input"
    definition = Given
    statement = "Z^h ~ N(mean, K), independent of all other inputs and matrices"
    citation = "Yang 2019, arXiv:1910.12478 (Tensor Programs I), Definition 4.1"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "G"

    def source(self, reference: Coord) -> Source:
        # elements that may depend on each other are one source: only all of them can change sign together
        second = reference.family.definition.second
        return Source.of(reference.family, tuple(t if s is None else None for t, s in zip(reference.subscripts, second)))

    def mean(self, reference: Coord) -> Expr:
        family = reference.family
        return substitute(family.definition.mean, dict(zip(family.axes, reference.subscripts)))

    def covariance(self, left: Coord, right: Coord, moment: Moments) -> Kernel:
        return stated_covariance(left, right)

    def finite(self, family: Family, sampler) -> Labelled:
        """mean + L z, with L L^T the covariance of the elements that may depend on each other."""
        given, axes = family.definition, family.axes
        batch = tuple(axis for axis, second in zip(axes, given.second) if second is None)
        joint = tuple(axis for axis, second in zip(axes, given.second) if second is not None)
        root = covariance_root(family, sampler)
        noise = sampler.normal((SAMPLE, sampler.points[family.width], *batch, *root.labels[len(batch) + len(joint):]))
        drawn = contract([root, noise], axes)
        if given.mean == ZERO:
            return drawn
        (centred, shift), labels = align([drawn, sampler.evaluate(given.mean)])
        return Labelled(centred + shift, labels)


def stated_covariance(left: Coord | ScalarRef, right: Coord | ScalarRef) -> Kernel:
    """The covariance of two elements of an input as its declaration states it; zero between different values of an independent axis."""
    given, axes = left.family.definition, left.family.axes
    names = dict(zip(axes, left.subscripts))
    names |= {second: term for second, term in zip(given.second, right.subscripts) if second is not None}
    independent = [k for k, second in enumerate(given.second) if second is None]
    equal = Kernel.equal((left.subscripts[k], right.subscripts[k]) for k in independent)
    return equal * Kernel.of(substitute(given.covariance, names))


def covariance_root(family: Family, evaluator: Evaluator) -> Labelled:
    """L with L L^T the covariance, labelled (independent axes, dependent axes, their second copies as columns)."""
    given, axes = family.definition, family.axes
    batch = tuple(axis for axis, second in zip(axes, given.second) if second is None)
    joint = tuple(axis for axis, second in zip(axes, given.second) if second is not None)
    columns = tuple(second for second in given.second if second is not None)
    array = evaluator.array(given.covariance, batch + joint + columns)
    size = int(np.prod([evaluator.size(axis) for axis in joint], dtype=int))
    shape = array.shape[: len(batch)]
    root = psd_root(np.ascontiguousarray(array).reshape(shape + (size, size)))
    return Labelled(np.asarray(root).reshape(array.shape), batch + joint + columns)
