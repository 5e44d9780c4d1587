"""Integrals over uniform variables: adaptive Gauss–Kronrod quadrature, for all cells at once.

The interval is cut where the integrand is known not to be smooth: where conditions and kinks in it, free of Gaussian leaves, are affine
in the variable and change sign (in each cell at its own place).  What is left is found by halving: a panel is accepted when the
7-point Gauss rule and the 15-point rule of Kronrod agree in all cells.

Source: Piessens, de Doncker, Überhuber & Kahaner 1983, QUADPACK, routine QK15 (nodes, weights and error estimate).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from netsor.expectation import ExpectationUndefined
from netsor.expectation.threads import halt_point
from netsor.ir.expressions import ZERO, Expect, Expr, Index, Integral, Leaf, Let
from netsor.ir.labelled import SAMPLE, Labelled, align
from netsor.ir.rewrite import free_indices, rebuild, substitute, walk
from netsor.limit.equations import Binding
from netsor.limit.kinks import crossings

if TYPE_CHECKING:
    from netsor.limit.numbers import Numbers

TOLERANCE = 1e-13  # of the integral of the absolute value: panels are halved until each is as good
MOST_NODES = 2**22  # times cells: what one integral may take in all, if its values cost nothing
FEWEST_NODES = 150  # what each cell may have in any case
AT_ONCE = 2**20  # times cells: what is evaluated in one go
EPS = float(np.finfo(float).eps)
SMALLEST_PANEL = 1e-12  # nodes in smaller ones would differ from their end by rounding
DIVERGES = 1e-3  # an error of this fraction in the smallest panels is no error: the integral does not exist

_HALF_NODES = np.array([
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926,
    0.741531185599394439863864773280788, 0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0])
_HALF_KRONROD = np.array([
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518,
    0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714])
_HALF_GAUSS = np.array([
    0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780, 0.0,
    0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327])
NODES = np.concatenate([-_HALF_NODES, _HALF_NODES[-2::-1]]) / 2 + 0.5  # on [0, 1]
KRONROD = np.concatenate([_HALF_KRONROD, _HALF_KRONROD[-2::-1]]) / 2
GAUSS = np.concatenate([_HALF_GAUSS, _HALF_GAUSS[-2::-1]]) / 2


def integrate_unit_interval(integral: Integral, numbers: "Numbers") -> tuple[Labelled, float]:
    """The value over all cells, and the error of the worst cell as a fraction of the largest value.

    :raises ExpectationUndefined: where the integral does not exist, as far as halving shows."""
    integrand = _Integrand(integral, numbers)
    panels = [(piece, 0.0, 1.0) for piece in range(integrand.pieces)]
    value = error = absolute = np.zeros(())
    largest, used, budget = 0.0, 0, _budget(integral)
    while panels:
        halved = []
        for some in _groups(panels, value.size):
            halt_point()
            values = integrand.on(some)
            used += values.size
            kronrod, gauss = values @ KRONROD, values @ GAUSS
            off = _error(np.abs(kronrod - gauss), np.abs(values - kronrod[..., None]) @ KRONROD)
            size = np.abs(values) @ KRONROD
            noise = 50 * EPS * size
            largest = max(largest, float(np.max(absolute + size.sum(axis=-1), initial=0.0)))
            again = np.max((off - noise).reshape(-1, len(some)), axis=0, initial=-np.inf) > TOLERANCE * largest
            again &= np.array([b - a > SMALLEST_PANEL for _, a, b in some]) & (used <= max(budget, FEWEST_NODES * value.size))
            value = value + kronrod[..., ~again].sum(axis=-1)
            error = error + off[..., ~again].sum(axis=-1)
            absolute = absolute + size[..., ~again].sum(axis=-1)
            if not np.isfinite(largest) or (used <= budget and np.max(off[..., ~again], initial=0.0) > DIVERGES * largest):
                raise ExpectationUndefined("the expectation over a uniform variable does not converge")
            for (piece, a, b), wide in zip(some, again):
                if wide:
                    halved += [(piece, a, (a + b) / 2), (piece, (a + b) / 2, b)]
        panels = halved
    value = np.where(np.abs(value) <= 16 * EPS * absolute, 0.0, value)  # what cancels is known up to rounding only
    scale, worst = (float(np.max(np.abs(array), initial=0.0)) for array in (value, error))
    return Labelled(value, integrand.labels), worst / scale if scale > 0 else worst


def _budget(integral: Integral) -> int:
    """Values that an integral may take: fewer where each is itself an expectation or an integral.  What is left open is in the error."""
    inside = list(walk(integral.body))
    expensive = 7 * any(isinstance(part, Expect) for part in inside) + 4 * any(isinstance(part, Integral) for part in inside)
    return MOST_NODES >> expensive


def _groups(panels: list, cells: int) -> Iterator[list]:
    size = max(1, AT_ONCE // (len(NODES) * max(cells, 1)))
    for start in range(0, len(panels), size):
        yield panels[start:start + size]


class _Integrand:
    """The body of an integral on panels: pieces of the unit interval that are [0, 1] each in a coordinate of its own.

    The variable becomes a :class:`Let` over the indices that the cuts between pieces depend on, so that each cell has its own nodes."""

    def __init__(self, integral: Integral, numbers: "Numbers"):
        self.numbers, self.variable = numbers, integral.variable
        self.labels: tuple[Index, ...] = ()
        edges = self._edges(integral)
        self._own = tuple(label for label in edges.labels[:-1])
        self._left, self._width = edges.data[..., :-1], np.diff(edges.data, axis=-1)
        self.pieces = self._left.shape[-1]
        self._indices = tuple(label for label in self._own if label != SAMPLE)
        self._nodes, self._body = self._named(integral.body, self._indices)

    def _named(self, expr: Expr, indices: tuple[Index, ...]) -> tuple[Binding, Expr]:
        nodes = Binding("u", (*indices, self.variable), ZERO)
        return nodes, substitute(expr, {self.variable: Let(nodes, nodes.labels)})

    def on(self, panels: list[tuple[int, float, float]]) -> np.ndarray:
        """Values times the width of the panel: (*cells, panels, nodes)."""
        piece = np.array([p for p, _, _ in panels])
        low, high = (np.array(ends)[:, None] for ends in zip(*[(a, b) for _, a, b in panels]))
        left, width = self._left[..., piece, None], self._width[..., piece, None]
        nodes = left + width * (low + (high - low) * NODES)
        flat = (*nodes.shape[:-2], -1)
        labels = (*self._own, self.variable)
        inside = self.numbers.with_given(self._nodes, Labelled(nodes.reshape(flat), labels))
        value = inside.evaluate(self._body)
        widths = np.broadcast_to(width * (high - low), nodes.shape).reshape(flat)
        (values, widths), found = align([value, Labelled(widths, labels)])
        axis = found.index(self.variable)
        self.labels = found[:axis] + found[axis + 1:]
        with np.errstate(all="ignore"):
            scaled = np.moveaxis(np.where(widths > 0, values * widths, 0.0), axis, -1)
        return scaled.reshape(*scaled.shape[:-1], len(panels), len(NODES))

    def _edges(self, integral: Integral) -> Labelled:
        """0, the places where the integrand is known not to be smooth, in order, and 1, for every cell: the last label is the variable."""
        points = np.array([0.0, 0.5, 1.0])
        cuts = []
        for expr in _sign_changes(integral):
            nodes, body = self._named(expr, ())
            value = self.numbers.with_given(nodes, Labelled(points, (self.variable,))).evaluate(body)
            at = np.moveaxis(value.data, value.axis(self.variable), -1)
            with np.errstate(all="ignore"):
                affine = np.abs(at[..., 1] - (at[..., 0] + at[..., 2]) / 2) <= 1e-12 * np.abs(at).max(axis=-1)
                zero = np.where(affine, at[..., 0] / (at[..., 0] - at[..., 2]), 0.0)
            zero = np.clip(np.where(np.isfinite(zero), zero, 0.0), 0.0, 1.0)
            cuts.append(Labelled(zero, tuple(label for label in value.labels if label != self.variable)))
        views, labels = align([*cuts, Labelled(np.zeros(())), Labelled(np.ones(()))])
        edges = np.sort(np.stack(np.broadcast_arrays(*views), axis=-1), axis=-1)
        return Labelled(edges, (*labels, self.variable))


def _sign_changes(integral: Integral) -> list[Expr]:
    """Expressions in the variable, without Gaussian leaves and other variables, at whose zeros the integrand may not be smooth."""
    stand_in = Leaf(-1)
    body = substitute(integral.body, {integral.variable: stand_in})
    allowed = free_indices(integral)
    back = lambda expr: integral.variable if expr == stand_in else rebuild(expr, back)  # noqa: E731
    return [
        back(expr) for expr in crossings(body)
        if {part for part in walk(expr) if isinstance(part, Leaf)} == {stand_in} and free_indices(expr) <= allowed
    ]


def _error(difference: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """QUADPACK's estimate of the error of the Kronrod rule from its difference to the Gauss rule."""
    with np.errstate(all="ignore"):
        ratio = np.where(spread > 0, 200 * difference / spread, 0.0)
        return np.where(spread > 0, spread * np.minimum(1.0, ratio**1.5), difference)
