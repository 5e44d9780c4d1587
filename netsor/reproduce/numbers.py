"""The numbers behind a figure, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netsor.expectation import Estimate
from netsor.expectation.estimate import with_error
from netsor.reproduce.attention_paper import FigureData
from netsor.reproduce.measure import Reference

COLUMNS = ("", "KL of KDEs", "KL, no smoothing", "variance", "excess kurtosis", "from the limit", "from Gaussian")


def rows(data: FigureData) -> Iterator[list[str]]:
    """One row a point; after the last point of each limit the limit itself and the Gaussian of its variance.

    KDE columns are mean and standard deviation over seeds, the others value and standard error.  The last two columns are
    how many standard errors the kurtosis is away from the limit's and from a Gaussian's."""
    points = data.measured
    for own, following in zip(points, (*points[1:], None)):
        limit = own.reference.law.kurtosis()
        yield [
            own.point.label, spread(own.kde), shown(own.conditional), shown(own.variance), shown(own.kurtosis),
            deviation(own.kurtosis, limit), deviation(own.kurtosis, Estimate(0.0, 0.0, "exact")),
        ]
        if following is None or following.reference is not own.reference:
            yield from known(own.reference)


def known(reference: Reference) -> Iterator[list[str]]:
    """What the same numbers are for the limit and for the matched Gaussian."""
    law = reference.law
    kurtosis = law.kurtosis()
    yield ["  limit", spread(reference.floor), "0", shown(law.var()), shown(kurtosis), "0", deviation(kurtosis, Estimate(0.0, 0.0, "exact"))]
    yield ["  Gaussian", spread(reference.matched), shown(reference.exact), shown(law.var()), "0", "", "0"]


def spread(values: np.ndarray) -> str:
    """Mean ± standard deviation over seeds."""
    return f"{values.mean():.2e} ± {values.std(ddof=1):.0e}"


def shown(estimate: Estimate | None) -> str:
    """A value with its error, nothing where there is none."""
    if estimate is None:
        return ""
    value, error = float(estimate.value), float(estimate.error)
    if 0 < abs(value) < 1e-2:
        return f"{value:.2e} ± {error:.0e}"
    return with_error(value, error)


def deviation(one: Estimate, other: Estimate) -> str:
    """The difference in standard errors."""
    error = float(np.hypot(one.error, other.error))
    return f"{(float(one.value) - float(other.value)) / error:+.1f}" if error > 0 else ""
