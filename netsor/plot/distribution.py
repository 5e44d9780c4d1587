"""Distribution functions, for laws with atoms, which have no density."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from netsor.plot.density import DECADES, MATCHED, lowest
from netsor.plot.style import GAUSSIAN, LIMIT, TITLE, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.limit.laws import Law

Function = Callable[[np.ndarray], np.ndarray]
MOST_ATOMS = 64  # in the picture; of more, the function is drawn as it is at equidistant points
REPEATED = 0.01  # of samples: the share of one value from which on it is an atom


def draw_distribution(left: Axes, right: Axes, law: Law, x: np.ndarray, name: str, finite: Mapping[str, np.ndarray],
                      gaussian: bool) -> None:
    """P(X <= x), and on a logarithmic scale the smaller of P(X <= x) and P(X > x): both tails in one curve."""
    from netsor.limit.laws import Empirical

    mean, deviation = float(law.mean().value), float(law.std().value)
    sampled = isinstance(law, Empirical)
    curve = of_samples(law.values.ravel(), x) if sampled else of_law(law, x)
    limit = f"limit ({law.values.size:,} samples)" if sampled else "limit"
    curves = [(text, of_samples(draws, x), {"color": series_colour(k), "linewidth": 1.1}) for k, (text, draws) in enumerate(finite.items())]
    for axes in (left, right):
        tails = axes is right
        for text, (places, below, above), style in [*curves, (limit, curve, {"color": LIMIT, "linewidth": 1.6, "zorder": 3})]:
            axes.plot(places, positive(np.minimum(below, above)) if tails else below, label=text, **style)
        if gaussian:
            z = (x - mean) / deviation
            values = ndtr(-np.abs(z)) if tails else ndtr(z)
            axes.plot(x, values, color=GAUSSIAN, linestyle=(0, (4, 2)), linewidth=1.3, label=MATCHED, zorder=3.1)
        axes.set_xlim(x[0], x[-1])
        axes.set_xlabel(f"x, for X = {name}")
    left.set_ylim(0, 1.02)
    right.set_yscale("log")
    right.set_ylim(max(10.0**-DECADES, 0.5 * lowest(right)), 1)
    left.set_ylabel("P(X ≤ x)")
    right.set_ylabel("smaller of P(X ≤ x), P(X > x)")
    left.set_title("distribution function", fontsize=TITLE)
    right.set_title("tails, log scale", fontsize=TITLE)


def of_law(law: Law, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, P(X <= place) and P(X > place)."""
    atoms = [(place, float(mass.value)) for place, mass in law.atoms()]
    return with_jumps(x, atoms, lambda places: law.cdf(places).value, lambda places: law.sf(places).value)


def of_samples(samples: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`of_law`, with the shares of samples for probabilities."""
    ordered = np.sort(samples)
    below = lambda places: np.searchsorted(ordered, places, side="right") / len(ordered)  # noqa: E731
    return with_jumps(x, repeated(ordered), below, lambda places: 1 - below(places))


def repeated(samples: np.ndarray) -> list[tuple[float, float]]:
    """The values that more than the share REPEATED of the samples have, and these shares."""
    values, counts = np.unique(samples, return_counts=True)
    often = counts > max(REPEATED * len(samples), 1)
    return list(zip(values[often], counts[often] / len(samples)))


def with_jumps(x: np.ndarray, atoms: Sequence[tuple[float, float]], below: Function, above: Function
               ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``below`` and ``above`` at x and at the atoms, each atom twice: just below its place and at it, so that a line through the points
    jumps there and nowhere else."""
    atoms = [(place, mass) for place, mass in atoms if x[0] <= place <= x[-1]]
    atoms = atoms if len(atoms) <= MOST_ATOMS else []
    at, masses = (np.array([atom[part] for atom in atoms], dtype=float) for part in (0, 1))
    places = np.unique(np.concatenate([x, at]))
    left, right = below(places), above(places)
    here = np.searchsorted(places, at)
    return np.insert(places, here, at), np.insert(left, here, left[here] - masses), np.insert(right, here, right[here] + masses)


def positive(values: np.ndarray) -> np.ndarray:
    """Zeros have no logarithm: NaN."""
    return np.where(values > 0, values, np.nan)
