"""Joint draws of every output: scores from their law, Gaussian vectors given the scores, functions of both."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from netsor.expectation import psd_root
from netsor.ir.evaluate import function_of_leaf
from netsor.ir.expressions import Coord, Expr, Leaf
from netsor.ir.kernel import has_infinite, limit_of
from netsor.ir.labelled import SAMPLE, Labelled, arrange, check_size
from netsor.ir.program import Family, Iid
from netsor.ir.polynomials import coords
from netsor.limit.forms import Forms
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import Recursion, generic


def variables_of(families: list[Family], forms: Forms) -> list[Family]:
    """The Gaussian families, and the inputs that are not Gaussian, that the given vectors are functions of, in program order."""
    found: dict[Family, None] = {}
    stack = list(families)
    seen: set[Family] = set()
    while stack:
        family = stack.pop()
        if family in seen:
            continue
        seen.add(family)
        if forms.is_gaussian(family) or isinstance(family.definition, Iid):
            found[family] = None
        else:
            stack.extend(reference.family for reference in coords(body_to_draw(family, forms)))
    return sorted(found, key=lambda family: (family.order, family.name))


def body_to_draw(family: Family, forms: Forms) -> Expr:
    """What is evaluated for a family that is not Gaussian.  Sums over infinite axes that are Gaussian are drawn as such."""
    body = family.definition.body
    return limit_of(forms.gaussian_body(family)) if has_infinite(body) else body


class JointDraw:
    """One coordinate of all Gaussian families in each sample, and everything that is computed from them."""

    def __init__(self, families: list[Family], recursion: Recursion):
        variables = variables_of(families, recursion.forms)
        self.inputs = [family for family in variables if isinstance(family.definition, Iid)]
        self.families = [family for family in variables if family not in self.inputs]
        self.recursion = recursion
        self._root: np.ndarray | None = None  # of the covariance, where it is the same for all samples

    @cached_property
    def means(self) -> list[Expr]:
        return [self.recursion.moment(generic(f, "x")).expression() for f in self.families]

    @cached_property
    def covariances(self) -> dict[tuple[int, int], Expr]:
        covariance = self.recursion.covariance
        return {
            (a, b): covariance(generic(f, "x"), generic(g, "y")).expression()
            for a, f in enumerate(self.families) for b, g in enumerate(self.families) if b <= a
        }

    @property
    def expressions(self) -> list:
        return [*self.means, *self.covariances.values()]

    def draw(self, numbers: Numbers, count: int, rng: np.random.Generator) -> "Drawn":
        """Draws for ``count`` samples (the samples of ``numbers``, if it has any)."""
        drawn = {family: self._input(family, numbers, count, rng) for family in self.inputs}
        if not self.families:
            return Drawn(numbers, drawn)
        axes = [tuple(generic(f, "x").subscripts) for f in self.families]
        columns = [tuple(generic(f, "y").subscripts) for f in self.families]
        shapes = [tuple(numbers.size(axis) for axis in own) for own in axes]
        starts = np.concatenate([[0], np.cumsum([int(np.prod(shape, dtype=int)) for shape in shapes])]).astype(int)
        blocks = {key: numbers.evaluate(e) for key, e in self.covariances.items()}
        sampled = any(SAMPLE in block.labels for block in blocks.values())
        lead = count if sampled else 1
        check_size((lead, starts[-1], starts[-1]))
        covariance = np.zeros((lead, starts[-1], starts[-1]))
        for (a, b), block in blocks.items():
            sizes = {label: numbers.size(label) for label in axes[a] + columns[b]}
            kept = (SAMPLE,) if SAMPLE in block.labels else ()
            dense = arrange(block, kept + axes[a] + columns[b], sizes).reshape(
                (-1, starts[a + 1] - starts[a], starts[b + 1] - starts[b]))
            covariance[:, starts[a]:starts[a + 1], starts[b]:starts[b + 1]] = dense
            covariance[:, starts[b]:starts[b + 1], starts[a]:starts[a + 1]] = np.swapaxes(dense, 1, 2)
        noise = rng.standard_normal((count, starts[-1], 1))
        root = self._root if self._root is not None else psd_root(covariance)
        if not sampled:
            self._root = root
        values = (root @ noise)[..., 0]
        for k, family in enumerate(self.families):
            mean = numbers.evaluate(self.means[k])
            kept = (SAMPLE,) if SAMPLE in mean.labels else ()
            shift = arrange(mean, kept + axes[k], {label: numbers.size(label) for label in axes[k]})
            own = values[:, starts[k]:starts[k + 1]].reshape((count, *shapes[k])) + shift
            drawn[family] = Labelled(own, (SAMPLE, *family.axes))
        return Drawn(numbers, drawn)


    @staticmethod
    def _input(family: Family, numbers: Numbers, count: int, rng: np.random.Generator) -> Labelled:
        """Independent draws of all elements of an input that is not Gaussian."""
        shape = (count, *[numbers.size(axis) for axis in family.axes])
        check_size(shape)
        normal = Labelled(rng.standard_normal(shape), (SAMPLE, *family.axes))
        return function_of_leaf(family.definition.law.of_normal(Leaf(0, family.axes)), normal, numbers)


class Drawn(Numbers):
    """Numbers in which coordinates of vectors have values."""

    def __init__(self, numbers: Numbers, drawn: dict[Family, Labelled]):
        self.__dict__.update(numbers.__dict__)
        self.drawn = drawn

    def _coord(self, expr: Coord) -> Labelled:
        family = expr.family
        if family not in self.drawn:
            value = self._evaluate(body_to_draw(family, self.recursion.forms))
            labels = ((SAMPLE,) if SAMPLE in value.labels else ()) + family.axes
            self.drawn[family] = Labelled(arrange(value, labels, {a: self.size(a) for a in family.axes}), labels)
        return self._element(self.drawn[family], family.axes, expr.subscripts)
