"""E phi(u) phi(v) and E phi(Z) as computed independently, to the digits given."""

import numpy as np
import pytest

from netsor.expectation import UnaryFunction, expect_kernel, expect_pair, expect_several, expect_unary

# name, parameters, E at (var_u, var_v, cov) = (1, 1, .5), at (1, 1, 1), E phi(Z): independent quadrature
TABLE = [
    ("relu", (), 0.304498890522, 0.5, 0.398942280401),
    ("step", (), 0.333333333333, 0.5, 0.5),
    ("sign", (), 0.333333333333, 1, 0),
    ("abs", (), 0.717995562088, 1, 0.797884560803),
    ("leaky_relu", (0.1,), 0.296644101323, 0.505, 0.359048052361),
    ("erf", (), 0.216346895939, 0.464559054398, 0),
    ("tanh", (), 0.186324413203, 0.394294490398, 0),
    ("sigmoid", (), 0.271428325632, 0.293379035858, 0.5),
    ("gelu", (), 0.227294915022, 0.425221482570, 0.282094791774),
    ("gelu_tanh", (), 0.227267076426, 0.425193711033, 0.282038588079),
    ("silu", (), 0.183169663088, 0.355775519817, 0.206620964142),
    ("softplus", (), 0.780078165207, 0.921245908859, 0.806059183347),
    ("elu", (), 0.324783648957, 0.644945417493, 0.160520572267),
    ("selu", (), 0.490569128325, 1, 0),
    ("hardtanh", (), 0.238169165801, 0.516058550962, 0),
    ("sin", (), 0.191700249782, 0.432332358382, 0),
    ("cos", (), 0.414830409931, 0.567667641618, 0.606530659713),
    ("exp", (), 4.481689070338, 7.389056098931, 1.648721270700),
    ("square", (), 1.5, 3, 1),
    ("hermite", (3,), 0.125, 1, 0),
    ("relu2", (), 0.706748335783, 1.5, 0.5),
]
LAST_DIGIT = 6e-13


@pytest.mark.parametrize("name, parameters, half, one, mean", TABLE)
def test_table(name, parameters, half, one, mean):
    f = UnaryFunction.of(name, *parameters)
    pair = expect_pair(f, f, 0, 0, 1, 1, [0.5, 1])
    np.testing.assert_allclose(pair.value, [half, one], rtol=0, atol=LAST_DIGIT)
    assert np.all(pair.error < 1e-12)
    np.testing.assert_allclose(float(expect_unary(f, 0, 1)), mean, rtol=0, atol=LAST_DIGIT)
    np.testing.assert_allclose(
        expect_kernel(f, 0, np.array([[1, 0.5], [0.5, 1]])).value, [[one, half], [half, one]], rtol=0, atol=LAST_DIGIT
    )


def test_composed_function():
    f = UnaryFunction("cos relu", lambda x: np.cos(np.maximum(x, 0)), kinks=(0.0,))
    estimate = expect_pair(f, f, 0, 0, 1, 1, 0.5)
    assert abs(float(estimate) - 0.699098699498) < LAST_DIGIT


def test_maxima_of_three_independent_variables():
    """Randomised QMC: four standard errors of eight replicates (t distribution, 7 degrees: false alarm 0.5 %; seed fixed).

    The error must also be a tenth of what 8 x 2^13 pseudo-random points give, about 1 / 256: a tenth is 4e-4.
    """
    functions = [
        (lambda x, _: np.maximum(x[..., 0], x[..., 1]), 0.564189583548),
        (lambda x, _: np.maximum(x[..., 0], x[..., 1]) ** 2, 1.0),
        (lambda x, _: np.maximum(x[..., 0], x[..., 1]) * np.maximum(x[..., 0], x[..., 2]), 0.608997781044),
    ]
    for function, expected in functions:
        runs = expect_several(function, np.zeros((1, 1, 3)), np.eye(3)[None, None])[:, 0]
        error = runs.std(ddof=1) / np.sqrt(len(runs))
        assert error < 4e-4 and abs(runs.mean() - expected) < 4 * error
