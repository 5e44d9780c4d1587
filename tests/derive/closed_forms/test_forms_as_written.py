"""What the formulas look like, which of them are related, and how long they take."""

import itertools
import time

import pytest
import sympy
from gaussian_reference.functions import CASES

from netsor.derive.closed_forms import Activation, citation, mean, pair_moment, polynomial_moment, second_moment
from netsor.derive.closed_forms.families import FUNCTIONS

A, B, C, RHO, V = sympy.symbols("K11 K22 K12 rho v")
PI, SQRT = sympy.pi, sympy.sqrt
ROOT, ANGLE = SQRT(A * B - C**2), PI - sympy.acos(C / SQRT(A * B))
GAMMA = sympy.Symbol("gamma")

WRITTEN = {
    ("relu", "relu"): (C * ANGLE + ROOT) / (2 * PI),
    ("step", "step"): ANGLE / (2 * PI),
    ("relu2", "relu2"): (3 * C * ROOT + ANGLE * (A * B + 2 * C**2)) / (2 * PI),
    ("sign", "sign"): 2 * sympy.asin(C / SQRT(A * B)) / PI,
    ("erf", "erf"): 2 * sympy.asin(2 * C / SQRT((1 + 2 * A) * (1 + 2 * B))) / PI,
    ("sin", "sin"): sympy.exp(-A / 2 - B / 2) * sympy.sinh(C),
    ("cos", "cos"): sympy.exp(-A / 2 - B / 2) * sympy.cosh(C),
    ("exp", "exp"): sympy.exp(A / 2 + B / 2 + C),
    ("gaussian", "gaussian"): 1 / SQRT((1 + 2 * A) * (1 + 2 * B) - 4 * C**2),
    ("sin", "sign"): sympy.exp(-A / 2) * sympy.erfi(C / SQRT(2 * B)),
    ("cube", "cube"): 3 * C * (3 * A * B + 2 * C**2),
    ("silu", "identity"): C / 2,
    ("elu", "identity"): C * sympy.exp(A / 2) * sympy.erfc(SQRT(A / 2)) / 2 + C / 2,
}


@pytest.mark.parametrize("pair", WRITTEN, ids="-".join)
def test_formulas_are_what_one_would_write(pair):
    found = pair_moment(*map(Activation, pair), A, B, C)
    assert sympy.srepr(found) == sympy.srepr(WRITTEN[pair]) or found == sympy.powsimp(WRITTEN[pair]), found


def test_rho_is_the_callers():
    assert pair_moment(Activation("relu"), Activation("relu"), A, B, rho=RHO) == SQRT(A * B) * (
        RHO * (PI - sympy.acos(RHO)) + SQRT(1 - RHO**2)
    ) / (2 * PI)
    leaky = Activation("leaky_relu", (GAMMA,))
    assert pair_moment(leaky, leaky, A, B, C) == GAMMA * C + (GAMMA - 1) ** 2 * (C * ANGLE + ROOT) / (2 * PI)
    hermite = Activation("hermite", (20,))
    assert pair_moment(hermite, hermite, 1, 1, rho=RHO) == RHO**20


def test_one_variable_has_no_arccosine():
    assert second_moment(Activation("relu"), Activation("relu"), V) == V / 2
    assert pair_moment(Activation("relu"), Activation("relu"), V, V, V) == V / 2
    assert pair_moment(Activation("relu"), Activation("relu"), V, V, -V) == 0
    assert pair_moment(Activation("abs"), Activation("relu"), V, V, -V) == V / 2
    assert pair_moment(Activation("relu2"), Activation("relu2"), V, V, rho=1) == 3 * V**2 / 2
    assert second_moment(Activation("sign"), Activation("sign"), V) == 1
    assert second_moment(Activation("sin"), Activation("sin"), V) == sympy.Rational(1, 2) - sympy.exp(-2 * V) / 2


def test_parameters_at_which_a_function_becomes_another():
    relu = Activation("relu")
    assert pair_moment(Activation("elu", (0,)), relu, A, B, C) == pair_moment(relu, relu, A, B, C)
    assert pair_moment(Activation("leaky_relu", (1,)), Activation("cube"), A, B, C) == 3 * B * C
    assert pair_moment(Activation("celu", (0,)), relu, A, B, C) is None
    assert pair_moment(Activation("constant", (0,)), Activation("elu"), A, B, C) == 0


def test_independent_variables_factorise():
    """Also where the pair itself has no form."""
    elu = mean(Activation("elu"), 0, A)
    hardsigmoid = mean(Activation("hardsigmoid"), 0, B)
    assert pair_moment(Activation("elu"), Activation("hardsigmoid"), A, B, C) is None
    assert pair_moment(Activation("elu"), Activation("hardsigmoid"), A, B, 0) == elu * hardsigmoid
    assert pair_moment(Activation("mish"), Activation("tanh"), A, B, 0) == 0
    assert pair_moment(Activation("exp"), Activation("relu"), 0, B, 0, mean_left=2) == sympy.exp(2) * mean(Activation("relu"), 0, B)


# name: the derivative as (factor, name); Price: d/dK12 E phi psi = E phi' psi'
DERIVATIVES = {
    "identity": (1, Activation("constant", (1,))), "relu": (1, Activation("step")), "abs": (1, Activation("sign")),
    "relu2": (2, Activation("relu")), "square": (2, Activation("identity")), "cube": (3, Activation("square")),
    "sin": (1, Activation("cos")), "cos": (-1, Activation("sin")), "exp": (1, Activation("exp")),
    "erf": (2 / SQRT(PI), Activation("gaussian")), "sigmoid_erf": (1 / SQRT(PI), Activation("gaussian")),
}  # fmt: skip


@pytest.mark.parametrize("left, right", list(itertools.combinations_with_replacement(DERIVATIVES, 2)))
def test_derivatives_by_the_covariance_are_expectations_of_derivatives(left, right):
    """Price 1958."""
    form = pair_moment(Activation(left), Activation(right), A, B, C)
    (factor, one), (other, two) = DERIVATIVES[left], DERIVATIVES[right]
    expected = factor * other * pair_moment(one, two, A, B, C)
    place = {A: sympy.Rational(7, 5), B: sympy.Rational(2, 3), C: sympy.Rational(-3, 7)}
    assert abs(sympy.N((form.diff(C) - expected).subs(place), 30)) < 1e-25


@pytest.mark.parametrize("name", DERIVATIVES)
def test_chi_maps_carry_over_to_rho(name):
    """The same by rho, at unit variances."""
    form = pair_moment(Activation(name), Activation(name), 1, 1, rho=RHO)
    factor, derivative = DERIVATIVES[name]
    expected = factor**2 * pair_moment(derivative, derivative, 1, 1, rho=RHO)
    assert abs(sympy.N((form.diff(RHO) - expected).subs(RHO, sympy.Rational(2, 7)), 30)) < 1e-25


def test_known_forms_take_milliseconds():
    """A form is derived once and then filled in: 2 ms each, of which five times as much is allowed.  Processor time: other
    processes do not count."""
    names = [case[0] for case in CASES.values() if not case[1] and not case[3]] + ["relu", "step", "abs"]
    pairs = list(itertools.islice(itertools.combinations(names, 2), 100))
    for left, right in pairs:
        pair_moment(Activation(left), Activation(right), A, B, C)
    x = sympy.Symbol("x")
    start = time.process_time()
    for left, right in pairs:
        pair_moment(Activation(left), Activation(right), 1 + x, 2 * x, x)
    assert time.process_time() - start < 1.0


def test_every_function_is_cited_and_in_the_catalogue():
    from netsor import nonlinearities

    for name in FUNCTIONS:
        assert citation(Activation(name))
        assert name in nonlinearities.names() or name in ("above", "constant", "monomial", "polynomial")
    assert citation(Activation("relu"), Activation("abs")) == citation(Activation("relu"))
    assert citation(Activation("mish")) == ""
    assert "Williams" in citation(Activation("relu"), Activation("erf"))


def test_isserlis():
    K = sympy.Matrix(3, 3, lambda i, j: sympy.Symbol(f"K{min(i, j)}{max(i, j)}"))
    assert sympy.expand(polynomial_moment((2, 1, 1), K) - K[0, 0] * K[1, 2] - 2 * K[0, 1] * K[0, 2]) == 0
    assert polynomial_moment((1, 1, 1), K) == 0
    assert polynomial_moment((), sympy.Matrix(0, 0, [])) == 1
    m = sympy.symbols("m1:4")
    third = polynomial_moment((1, 1, 1), K, m)
    expected = m[0] * m[1] * m[2] + m[0] * K[1, 2] + m[1] * K[0, 2] + m[2] * K[0, 1]
    assert sympy.expand(third - expected) == 0
    two = K[:2, :2]
    for j, k in itertools.product(range(5), repeat=2):
        pair = pair_moment(Activation("monomial", (j,)), Activation("monomial", (k,)), K[0, 0], K[1, 1], K[0, 1])
        assert sympy.expand(polynomial_moment((j, k), two) - pair) == 0
    with pytest.raises(ValueError, match="square covariance matrix"):
        polynomial_moment((1, 1), K)
    with pytest.raises(ValueError, match="natural numbers"):
        polynomial_moment((1, -1, 0), K)
