"""Rules of plug-ins: a new Gaussian operation on vectors, used in programs like a function.

A rule of this kind takes one vector per element and draws its randomness once per call: ``y[i] = haar(x[i])`` applies one
operator to all elements, two calls are independent.  Its limit is Gaussian with a covariance that is a function of the kernel of its
argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from netsor.ir.expressions import ZERO, Coord, Expr, Index, lift
from netsor.ir.facts import Randomness
from netsor.ir.kernel import Kernel
from netsor.ir.labelled import SAMPLE, Labelled, arrange
from netsor.ir.program import Custom, Family
from netsor.ir.rewrite import substitute
from netsor.rules.base import EXPLAIN, GaussianRule, Moments, Source


class VectorRule(GaussianRule, abstract=True):
    """Subclass with ``name``, ``statement``, ``citation``, ``limit`` and ``draw``; register an instance with
    :func:`netsor.register_rule`.

    :cvar constants: names of further arguments, which are numbers.
    :cvar proved: whether the limit is a theorem (of the citation) or an extension.
    """

    definition = Custom
    required = ("name", "statement", "citation", "limit", "draw")
    constants: ClassVar[tuple[str, ...]] = ()
    proved: ClassVar[bool] = False

    limit: Any = None
    """``limit(kernel, *constants)``: the covariance of two results, given the kernel E[Z^x Z^y] of their arguments: a linear function
    of it, such as ``2 * kernel``.  It works on expressions and on numbers alike."""

    draw: Any = None
    """``draw(vectors, rng, *constants)``: the results at width n, for ``vectors`` of shape (elements, n) -> the same shape."""

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "G"

    def source(self, reference: Coord) -> Source:
        return Source(reference.family.definition.draw)

    def mean(self, reference: Coord) -> Expr:
        return ZERO

    def covariance(self, left: Coord, right: Coord, moment: Moments) -> Kernel:
        """``limit`` of the kernel of the arguments, term by term (it is linear)."""
        kernel = moment(_argument(left), _argument(right))
        constants = left.family.definition.constants
        return Kernel((key, self._limit(coefficient, *constants)) for key, coefficient in kernel.terms.items())

    def _limit(self, coefficient: Expr, *constants) -> Expr:
        from netsor.nonlinearities.plugin_error import PluginError

        try:
            found = self.limit(coefficient, *constants)
        except Exception as error:
            raise PluginError(f"the limit of the rule {self.name!r} fails: {type(error).__name__}: {error}") from error
        if not isinstance(found, (Expr, int, float)):
            raise PluginError(f"the limit of the rule {self.name!r} is no expression but {type(found).__name__}")
        return lift(found)

    def finite(self, family: Family, sampler) -> Labelled:
        """The results of one draw, for all families that it serves when the first of them is due."""
        if family not in sampler.ahead:
            sampler.ahead |= self._drawn(sampler.drawn_together(family), sampler)
        return sampler.ahead.pop(family)

    def _drawn(self, families: Sequence[Family], sampler) -> dict[Family, Labelled]:
        definition, width = families[0].definition, families[0].width
        constants = [sampler.number(constant) for constant in definition.constants]
        point, size = sampler.points[width], sampler.sizes[width]
        labels = [(SAMPLE, *family.axes, point) for family in families]
        vectors = [_vectors(family, labels_, sampler) for family, labels_ in zip(families, labels)]
        flat = np.concatenate([each.reshape(sampler.runs, math.prod(each.shape[1:-1]), size) for each in vectors], axis=1)
        drawn = np.stack([np.asarray(self.draw(run, sampler.rng, *constants), dtype=float) for run in flat])
        if drawn.shape != flat.shape:
            raise ValueError(f"the rule {self.name} returned shape {drawn.shape[1:]} for vectors of shape {flat.shape[1:]}")
        ends = np.cumsum([math.prod(each.shape[1:-1]) for each in vectors])
        results = np.split(drawn, ends[:-1], axis=1)
        return {family: Labelled(result.reshape(each.shape), labels_)
                for family, result, each, labels_ in zip(families, results, vectors, labels)}


EXPLAIN |= {
    "limit": "a method limit(kernel, *constants): the covariance of two results from the kernel of their arguments",
    "draw": "a method draw(vectors, rng, *constants): the results at width n for vectors of shape (elements, n)",
}


def _vectors(family: Family, labels: tuple[Index, ...], sampler) -> np.ndarray:
    """What a rule is applied to for the elements of a family."""
    argument, = family.definition.arguments
    special = {SAMPLE: sampler.runs, sampler.points[family.width]: sampler.sizes[family.width]}
    sizes = {axis: axis.range.size for axis in family.axes} | special
    return np.ascontiguousarray(arrange(sampler.evaluate(argument), labels, sizes))


def _argument(reference: Coord) -> Coord:
    family = reference.family
    return substitute(family.definition.arguments[0], dict(zip(family.axes, reference.subscripts)))
