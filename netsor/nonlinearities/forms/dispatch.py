"""Which pairs of forms have a formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.nonlinearities.forms.error_function import ErrorFunction, error_function_pair, smoothed_pair
from netsor.nonlinearities.forms.hinges import Hinges, hinges_pair
from netsor.nonlinearities.forms.kink_at_zero import KinkAtZero, kink_pair
from netsor.nonlinearities.forms.polynomial import PolynomialForm, polynomial_pair
from netsor.nonlinearities.forms.waves import Waves, waves_pair

Formula = Callable[..., np.ndarray]
"""(mean_u, mean_v, var_u, cov, var_v) -> E one(u) two(v), broadcasting; variances positive."""


def mean_of_form(form, mean, variance) -> np.ndarray:
    """E form(Z), Z ~ N(mean, variance), variance positive."""
    return form.mean(mean, np.asarray(variance, dtype=float))


def pair_of_forms(one, two) -> Formula | None:
    """The formula of E one(u) two(v), or None."""
    if isinstance(one, ErrorFunction) and isinstance(two, ErrorFunction):
        shifted = _piecewise_linear(one, two)
        centred = error_function_pair(one, two)
        return lambda mean_u, mean_v, *rest: (shifted if np.any(mean_u) or np.any(mean_v) else centred)(
            mean_u, mean_v, *rest
        )
    if isinstance(one, (KinkAtZero, Hinges, ErrorFunction)) and isinstance(two, (KinkAtZero, Hinges, ErrorFunction)):
        return _piecewise_linear(one, two)
    if isinstance(one, PolynomialForm) and isinstance(two, PolynomialForm):
        return polynomial_pair(one, two)
    if isinstance(one, Waves) and isinstance(two, Waves):
        return waves_pair(one, two)
    return None


def _piecewise_linear(one, two) -> Formula:
    """Piecewise linear functions and error functions, which are smoothed signs."""
    if isinstance(one, ErrorFunction):
        return smoothed_pair(one, _piecewise_linear(one.signs(), two))
    if isinstance(two, ErrorFunction):
        flipped = smoothed_pair(two, _piecewise_linear(two.signs(), one))
        return lambda mean_u, mean_v, var_u, cov, var_v: flipped(mean_v, mean_u, var_v, cov, var_u)
    general = hinges_pair(_as_hinges(one), _as_hinges(two))
    if isinstance(one, Hinges) or isinstance(two, Hinges):
        return general
    centred = kink_pair(one, two)
    return lambda mean_u, mean_v, *rest: (general if np.any(mean_u) or np.any(mean_v) else centred)(
        mean_u, mean_v, *rest
    )


def _as_hinges(form) -> Hinges:
    return form if isinstance(form, Hinges) else form.hinges()
