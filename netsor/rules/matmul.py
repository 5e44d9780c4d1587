"""``W @ x``: a Gaussian matrix times a vector."""

from __future__ import annotations

from netsor.ir.expressions import ZERO, Coord, Expr
from netsor.ir.facts import Randomness
from netsor.ir.kernel import Kernel
from netsor.ir.labelled import Labelled
from netsor.ir.program import Family, MatMul
from netsor.ir.rewrite import substitute
from netsor.rules.base import GaussianRule, Moments, Source


class MatMulRule(GaussianRule):
    """Cov(Z^{Wx}, Z^{Wy}) = sigma^2 E[Z^x Z^y] for the same W; products with different matrices are independent.

    Where W.T is used too this is the fresh part only, and :mod:`netsor.rules.transpose` adds the correction."""

    name = "MatMul"
    definition = MatMul
    statement = "Z^{Wx} Gaussian, Cov(Z^{Wx}, Z^{Wy}) = sigma^2 E[Z^x Z^y], independent for different matrices"
    citation = "Yang 2019, arXiv:1910.12478 (Tensor Programs I), Theorem 5.4"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "G"

    def source(self, reference: Coord) -> Source:
        return Source.of(reference.family.definition.matrix, self._element(reference))

    def mean(self, reference: Coord) -> Expr:
        return ZERO

    def covariance(self, left: Coord, right: Coord, moment: Moments) -> Kernel:
        matrix = left.family.definition.matrix
        elements = self._element(left), self._element(right)
        variance = substitute(matrix.variance, dict(zip(matrix.axes, elements[0])))
        return Kernel.equal(zip(*elements)) * moment(self._argument(left), self._argument(right)) * variance

    def finite(self, family: Family, sampler) -> Labelled:
        return sampler.product(family)

    @staticmethod
    def _element(reference: Coord) -> tuple[Expr, ...]:
        family = reference.family
        names = dict(zip(family.axes, reference.subscripts))
        return tuple(substitute(term, names) for term in family.definition.matrix_subscripts)

    @staticmethod
    def _argument(reference: Coord) -> Coord:
        family = reference.family
        return substitute(family.definition.argument, dict(zip(family.axes, reference.subscripts)))
