"""Tests of a declaration: is the nonlinearity what it says it is?"""

from __future__ import annotations

import numpy as np

from netsor.nonlinearities.base import Nonlinearity, pair_closed_form
from netsor.nonlinearities.derived import jumps

# Covariances (var_u, cov, var_v): generic, negative, fully correlated, independent, unequal, nearly degenerate.
COVARIANCES = (
    (1.0, 0.5, 1.0), (0.7, -0.4, 1.3), (1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (0.3, 0.0, 2.0), (0.25, 0.5, 1.0),
    (1.0, 0.999999, 1.0), (0.04, 0.03, 2.25),
)
_GRID = np.concatenate([np.linspace(-4.03, 4.01, 403), [-0.37, 0.52, 7.3, -6.1]])


def check_nonlinearity(nonlinearity: Nonlinearity, *params: float) -> None:
    """AssertionError, with a sentence, at the first thing ``nonlinearity`` declares that is not so.

    Checked: the function is vectorised and silent, its derivative against finite differences, the slope as a formula against
    the derivative, its parity, that it has kinks where declared and nowhere else in [-4, 4], its polynomial, and the closed
    forms of its mean and of its pairs against quadrature.  Parameters without a default must be given.
    """
    params = nonlinearity.arguments(*params)
    label = nonlinearity.name
    points = _GRID[(_GRID > nonlinearity.domain[0]) & (_GRID < nonlinearity.domain[1])]
    kinks = np.array(nonlinearity.kinks(*params), dtype=float)
    smooth = points[np.all(np.abs(points[:, None] - kinks) > 0.02, axis=1)] if len(kinks) else points
    if np.isfinite(nonlinearity.domain[0]):
        # a singularity at the end of the domain has steep slopes beside it
        smooth = smooth[smooth > nonlinearity.domain[0] + 0.5]
    _check_vectorised(nonlinearity, params, points, label)
    _check_derivative(nonlinearity, params, smooth, label)
    _check_slope(nonlinearity, params, smooth, label)
    _check_parity(nonlinearity, params, points, label)
    _check_kinks(nonlinearity, params, kinks, label)
    coefficients = nonlinearity.polynomial(*params)
    if coefficients is not None:
        expected = np.polynomial.polynomial.polyval(points, np.array(coefficients))
        _agree(nonlinearity(points, *params), expected, 1e-9, f"{label} is not the polynomial it declares")
    if nonlinearity.domain == (-np.inf, np.inf):
        _check_mean(nonlinearity, params, label)
        _check_pairs(nonlinearity, params, label)


def _agree(found, expected, tolerance, sentence) -> None:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    gap = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    worst = int(np.argmax(np.where(np.isnan(gap), np.inf, gap)))
    if not np.all(gap <= tolerance):
        raise AssertionError(f"{sentence}: {found.flat[worst]:.12g} against {expected.flat[worst]:.12g}")


def _check_vectorised(nonlinearity, params, points, label) -> None:
    grid = points[: 2 * (len(points) // 2)].reshape(2, -1)
    values = np.asarray(nonlinearity.function(grid, *nonlinearity.arguments(*params)))
    if values.shape != grid.shape:
        raise AssertionError(f"{label} maps an array of shape {grid.shape} to one of shape {values.shape}")
    single = np.array([float(nonlinearity(x, *params)) for x in grid.ravel()[::37]])
    _agree(values.ravel()[::37], single, 1e-14, f"{label} gives different values one at a time and in an array")
    extreme = nonlinearity(np.array([nonlinearity.domain[0], -1e3, -40.0, 40.0, 1e3, 1e300]), *params)
    inside = np.array([-1e3, -40.0, 40.0, 1e3, 1e300]) > nonlinearity.domain[0]
    if np.any(np.isnan(extreme[1:][inside])) and nonlinearity.growth in ("bounded", "linear"):
        raise AssertionError(f"{label} is not a number at large arguments")


def _check_derivative(nonlinearity, params, points, label) -> None:
    step = 1e-3
    shifts = nonlinearity(points[None] + step * np.array([[-2.0], [-1.0], [1.0], [2.0]]), *params)
    slope = (shifts[0] - 8 * shifts[1] + 8 * shifts[2] - shifts[3]) / (12 * step)
    _agree(nonlinearity.derivative(points, *params), slope, 1e-7, f"the derivative of {label} is not its slope")


def _check_slope(nonlinearity, params, points, label) -> None:
    """The formula of the derivative is the derivative, and no jump hides between its pieces."""
    from netsor.nonlinearities.registry import get

    def of(name, argument, *parameters):
        return np.minimum(argument, *parameters) if name == "min" else get(name)(argument, *parameters)

    slope = nonlinearity.slope(points, of, *params)
    if slope is None:
        return
    slope = np.broadcast_to(slope, points.shape)
    _agree(slope, nonlinearity.derivative(points, *params), 1e-9, f"the slope of {label} is not its derivative")
    if jumps(nonlinearity, *params):
        raise AssertionError(f"{label} declares a slope, but it jumps: leave the slope out")


def _check_parity(nonlinearity, params, points, label) -> None:
    parity = nonlinearity.parity(*params)
    if parity not in (-1, 0, 1):
        raise AssertionError(f"{label} declares parity {parity}, which is not -1, 0 or 1")
    if parity:
        kind = "even" if parity == 1 else "odd"
        _agree(
            nonlinearity(-points, *params), parity * nonlinearity(points, *params), 1e-12, f"{label} is not {kind}"
        )


def _check_kinks(nonlinearity, params, kinks, label) -> None:
    """Near a kink the eighth differences do not shrink with the step as they do where the function is smooth."""
    low = max(-4.0, nonlinearity.domain[0] + 1.0)
    suspects = [x for x in np.linspace(low, 4.0, 1601) if _rough(nonlinearity, params, x)]
    for x in suspects:
        if not len(kinks) or np.min(np.abs(kinks - x)) > 0.05:
            raise AssertionError(f"{label} has a kink near {x:.3f} that it does not declare")
    for kink in kinks:
        if low <= kink <= 4.0 and not any(abs(kink - x) < 0.05 for x in suspects):
            raise AssertionError(f"{label} declares a kink at {kink:g}, where it is smooth")


def _rough(nonlinearity, params, centre) -> bool:
    """Does the residual of a fit by a cubic on eight points shrink like a kink's (at most the third power)?"""
    residuals = []
    for width in (0.02, 0.005):
        x = np.linspace(-1.0, 1.0, 9)
        values = nonlinearity(centre + width * x, *params)
        fit = np.polynomial.chebyshev.chebvander(x, 5)
        residual = values - fit @ np.linalg.lstsq(fit, values, rcond=None)[0]
        residuals.append(np.abs(residual).max())
    scale = max(1.0, float(np.abs(nonlinearity(np.array([centre]), *params))[0]))
    return residuals[0] > 1e-11 * scale and residuals[1] > residuals[0] / 4**4 and residuals[1] > 1e-12 * scale


def _check_mean(nonlinearity, params, label) -> None:
    from netsor.expectation.functions import UnaryFunction
    from netsor.expectation.unary import quadrature

    variances = np.array([0.01, 0.3, 1.0, 2.5])
    found = nonlinearity.mean(variances, *params)
    if found is None:
        return
    function = UnaryFunction.of(nonlinearity, *params)
    expected = quadrature(function, np.zeros(4), variances)
    _agree(found, expected.value, 1e-10, f"the closed form of the mean of {label} is not its integral")


def _check_pairs(nonlinearity, params, label) -> None:
    from netsor.expectation.functions import UnaryFunction
    from netsor.expectation.pair_cells import Cells
    from netsor.expectation.pair_quadrature import plane_quadrature
    from netsor.nonlinearities.registry import get

    partners = [(nonlinearity, params)]
    for name in nonlinearity.pairs(*params):
        if name != label and not any(default is None for _, default in get(name).parameters):
            partners.append((get(name), get(name).arguments()))
    var_u, cov, var_v = np.array(COVARIANCES).T
    for partner, partner_params in partners:
        formula = pair_closed_form(nonlinearity, params, partner, partner_params)
        if formula is None:
            continue
        one, two = UnaryFunction.of(nonlinearity, *params), UnaryFunction.of(partner, *partner_params)
        zero = np.zeros(len(cov))
        expected = plane_quadrature(one, two, Cells.of(zero, zero, var_u, var_v, cov))
        with np.errstate(all="ignore"):
            found = np.broadcast_to(formula(var_u, cov, var_v), cov.shape)
        sentence = f"the closed form of the pair {label}, {partner.name} is not its integral"
        _agree(found, expected.value, 1e-9, sentence)
