"""Products of functions of one variable, and of exponentials and waves of several, against quadrature."""

import itertools
import math

import numpy as np
import pytest
import sympy
from gaussian_reference.functions import CASES
from gaussian_reference.quadrature import one_variable

from netsor.api import parse
from netsor.derive.closed_forms import Activation, Product, mean, pair_moment, value
from netsor.derive.closed_forms.characteristic import Factor, wave_expectation
from netsor.derive.objects import GaussianExpectation

V, M = sympy.symbols("v m")
PRODUCTS = [
    ("relu",) * 4, ("relu", "step", "identity", "identity"), ("abs", "sign"), ("abs",) * 3, ("sign", "sign", "relu2"),
    ("leaky_relu",) * 3, ("hardtanh",) * 4, ("hardtanh", "relu", "identity"), ("exp", "relu", "relu"), ("exp", "exp", "gaussian"),
    ("gaussian",) * 4, ("elu", "elu", "relu"), ("step", "exp", "cube"),
]


@pytest.mark.parametrize("names", PRODUCTS, ids=" ".join)
def test_products_of_functions_of_one_variable_are_their_integrals(names):
    """Centred, shifted to both sides, narrow and wide."""
    product = Product(tuple(Activation(name, CASES[name][1]) for name in names))
    for place, variance in [(0.0, 0.8), (0.7, 1.1), (-1.5, 0.2), (0.4, 1e-4), (-2.0, 9.0)]:
        found = value(mean(product, M if place else 0, V), {M: place, V: variance})
        u, weights = one_variable(place, variance)
        values = np.prod([CASES[name][2](u) for name in names], axis=0) * weights
        # of polynomials of high degree terms cancel: relative to the moment of the same degree without cutting
        scale = np.abs(values).sum() + 1e-14 * np.sum(weights * (1 + np.abs(u)) ** len(names) * np.exp(names.count("exp") * u))
        assert abs(found - values.sum()) <= 1e-9 * scale, (place, variance)


@pytest.mark.parametrize("law", [(1.0, 0.5, 1.0), (0.7, -0.31, 2.9), (2.0, 1.9999, 2.0), (0.7, 0.7, 0.7), (0.25, -0.5, 1.0)])
def test_products_on_both_sides_of_a_pair(law):
    """E u^2 relu(u) |v| step(v) and the like by polar coordinates: with u = s cos t, v = r-combination both are homogeneous, so that the
    radius integrates to a moment of the chi law and the angle is left; kinks of it at the zeros of u and v."""
    a, c, b = law
    formulas = {
        (("relu", "identity", "identity"), ("abs", "step")): (3, 1), (("relu", "relu"), ("relu", "sign")): (2, 1), (("abs",) * 3, ("relu",) * 3): (3, 3)}
    root = np.array([[math.sqrt(a), 0], [c / math.sqrt(a), math.sqrt(max(0.0, b - c * c / a))]])
    zeros = [math.atan2(-row[0], row[1]) % math.pi for row in root]
    edges = np.unique(np.array([0, 2 * math.pi, *zeros, *[zero + math.pi for zero in zeros]]))
    x, w = np.polynomial.legendre.leggauss(60)
    half = np.diff(edges) / 2
    angle = ((edges[:-1] + half)[:, None] + half[:, None] * x).ravel()
    weights = (half[:, None] * w).ravel() / (2 * math.pi)
    u, v = root @ np.stack([np.cos(angle), np.sin(angle)])
    for (left, right), degrees in formulas.items():
        one, two = (Product(tuple(map(Activation, names))) for names in (left, right))
        found = value(pair_moment(one, two, *map(sympy.Float, (a, b, c))))
        values = np.prod([CASES[name][2](u) for name in left] + [CASES[name][2](v) for name in right], axis=0)
        degree = sum(degrees)
        radius = 2 ** (degree / 2) * math.gamma(1 + degree / 2)  # E |z|^degree of a standard normal vector in the plane
        assert abs(found - radius * values @ weights) <= 1e-10 * (a**degrees[0] * b**degrees[1]) ** 0.5 * 10**degree / 100, (left, right)


def test_two_kinds_of_signs_are_taken_apart():
    """E u^2 relu(u) erf(u): the sign of relu and the smoothed one of erf meet in an arcsine, whichever the order of the factors."""
    text = "width n\nparam v = 0.8\ninput x ~ N(0, v)\nm = avg(relu(x) * erf(x) * x^2)\noutput m\n"
    u, weights = one_variable(0.0, 0.8)
    expected = np.sum(weights * np.maximum(u, 0) * CASES["erf"][2](u) * u**2)
    assert parse(text).derive().evaluate()["m"] == pytest.approx(expected, rel=1e-12)
    assert not parse(text).derive()["m"].has(GaussianExpectation)


LAWS = {
    "three": ([0.3, -0.2, 0.1], [[1.0, 0.4, -0.3], [0.4, 0.8, 0.2], [-0.3, 0.2, 0.5]]),
    "equal": ([0.0, 0.0, 0.5], [[0.6, 0.6, 0.3], [0.6, 0.6, 0.3], [0.3, 0.3, 1.1]]),  # correlation 1
    "opposite": ([0.2, 0.1, 0.0], [[0.6, -1.2, 0.3], [-1.2, 2.4, -0.6], [0.3, -0.6, 0.4]]),  # correlation -1, unequal variances
}
WAVES = [
    [("exp", 2, 1), ("sin", 0, 1), ("cos", 1, 1)], [("sin", 0, 1)] * 4, [("sin", 0, 2), ("sin", 1, 1), ("cos", 2, 3), ("exp", 0, 0.5)],
    [("exp", 0, -1), ("exp", 1, 0.5), ("exp", 2, 1)], [("cos", 0, 1), ("cos", 0, 1), ("sin", 2, 1), ("sin", 2, 1)],
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("waves, powers", list(itertools.product(WAVES, [(0, 0, 0), (1, 0, 0), (0, 2, 1)])))
def test_waves_of_several_variables_are_their_integrals(waves, powers, law):
    """Trapezoidal rule over three standard normal variables, of which the others are linear functions: the integrand is entire."""
    m, k = (np.array(part) for part in LAWS[law])
    eigenvalues, vectors = np.linalg.eigh(k)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    z = np.arange(-9, 9.1, 0.3)
    weights = np.exp(-(z**2) / 2) * 0.3 / math.sqrt(2 * math.pi)
    grid = np.stack(np.meshgrid(z, z, z, indexing="ij")).reshape(3, -1)
    x = m[:, None] + root @ grid
    values = math.prod(np.meshgrid(weights, weights, weights, indexing="ij")).reshape(-1)
    for kind, place, rate in waves:
        values = values * getattr(np, kind)(rate * x[place])
    values = values * np.prod(x ** np.array(powers)[:, None], axis=0)
    factors = [Factor(kind, place, sympy.nsimplify(rate)) for kind, place, rate in waves]
    found = wave_expectation(factors, powers, list(map(sympy.Float, m)), sympy.Matrix(k))
    assert abs(float(found) - values.sum()) <= 1e-11 * max(1.0, np.abs(values).sum())


def test_linear_combinations_inside_exponentials_and_waves():
    """E exp(x + 2 z) sin(x - w)^2 z: no expectation is left standing, and the number is the engine's."""
    text = """
width n
index b in 1..3
const K[b,c] = 1/(1 + abs(b - c))
input x[b] ~ N(0, K)
y = exp(0.3*x[1] + 0.2*x[2]) * sin(x[1] - x[3])^2 * x[2]
m = avg(y)
output m
"""
    text = text.replace("index b in", "index b, c in")
    derivation = parse(text).derive()
    assert not derivation["m"].has(GaussianExpectation)
    root = np.linalg.cholesky(1 / (1 + np.abs(np.subtract.outer(range(3), range(3)))))
    z = np.arange(-9, 9.1, 0.3)
    weights = np.exp(-(z**2) / 2) * 0.3 / math.sqrt(2 * math.pi)
    one, two, three = root @ np.stack(np.meshgrid(z, z, z, indexing="ij")).reshape(3, -1)
    values = np.exp(0.3 * one + 0.2 * two) * np.sin(one - three) ** 2 * two
    expected = values @ math.prod(np.meshgrid(weights, weights, weights, indexing="ij")).reshape(-1)
    assert derivation.evaluate()["m"] == pytest.approx(expected, abs=1e-12)
