"""Widths: their ratios, which value has which, and the ratios that are left of scales and variances."""

from fractions import Fraction

import pytest

from netsor.ir.evaluate import Evaluator
from netsor.ir.program import MatMul, Moment, Score
from netsor.ir.show import program_text
from netsor.language import load_program
from netsor.language.constants import functions
from netsor.language.source import Source

START = """param c = 3
width n, m = n/4
input h, g ~ N(0, 1)
input b : m ~ N(0, 1)
matrix Q : (m, n) ~ N(0, 1/n)
"""


def load(text: str, **options):
    return load_program(Source(START + text, "program.netsor"), **options)


def families(text: str) -> dict:
    return {family.name: family for family in load(text).families}


def number(expr) -> float:
    return Evaluator(functions).number(expr)


@pytest.mark.parametrize("size, ratio", [
    ("2*n", 2), ("n", 1), ("m", Fraction(1, 4)), ("2*m", Fraction(1, 2)), ("n/c", Fraction(1, 3)), ("c*m - m", Fraction(1, 2)),
    ("n + 2*m", Fraction(3, 2)), ("sqrt(n*m)", Fraction(1, 2)), ("sqrt(n^2 + 3*n^2)", 2), ("n^2/m", 4), ("0.1*n", Fraction(1, 10)),
    ("pi*n", 3.141592653589793), ("(n + m)*n/m", 5),
])
def test_a_width_is_a_multiple_of_the_first(size, ratio):
    program = load(f"width k = {size}\nx = b\n")
    assert (program.width, program.widths) == ("n", {"n": 1, "m": Fraction(1, 4), "k": ratio})
    assert program.further_widths["m"] == "1/4*n"


def test_a_setting_changes_a_ratio():
    assert load("width k = n/c\nx = b\n", settings={"c": 8}).widths["k"] == Fraction(1, 8)


def test_every_vector_has_a_width_and_scalars_have_none():
    found = families("""x = Q @ relu(h)
y = where(x > 0, x, b) + max(x, 0)^2
z = 0*b
p = dot(tanh(x), b) / sqrt(m)
s = avg(x) + p
w = p*h if s > 0 else exp(h)
""")
    widths = {name: family.width for name, family in found.items()}
    assert widths == {
        "h": "n", "g": "n", "b": "m", "x.1": "n", "x": "m", "y": "m", "z": "m", "p.1": "m", "p": "", "s.1": "", "s": "", "w": "n"}


def test_zero_vectors_of_two_widths_are_two_families():
    found = families("W = 0\nx = Q @ (0*h)\np = dot(0*b, b)/sqrt(m)\n")
    assert found["x"].definition.argument.family.width == "n"
    assert found["p"].definition.left.family.width == "m"


def test_matrices_have_a_shape_and_are_square_over_the_first_width_without_one():
    program = load("matrix W ~ N(0, 2/n)\nmatrix U[1] : (n, m) ~ N(0, 1/m)\nmatrix U[2] : (m, m) ~ N(0, 1/m)\nx = U[1] @ U[2] @ Q @ W @ h\n")
    assert [(m.name, m.rows, m.columns) for m in program.matrices] == [
        ("Q", "m", "n"), ("W", "n", "n"), ("U", "n", "m"), ("U", "m", "m")]
    products = [f for f in program.families if isinstance(f.definition, MatMul)]
    assert [f.width for f in products] == ["n", "m", "m", "n"]


@pytest.mark.parametrize("variance, coefficient", [
    ("1/m", 1), ("3/n", 0.75), ("2/(n + m)", 0.4), ("1/sqrt(n*m)", 0.5), ("c/(4*m)", 0.75), ("n/m^2", 4), ("1/(n - m)", 1 / 3),
    ("1/sqrt(n^2 + m^2)", 1 / 17**0.5), ("(1/n + 1/m)/2", 0.625),
])
def test_the_variance_of_a_matrix_is_relative_to_its_own_fan_in(variance, coefficient):
    program = load(f"matrix W : (n, m) ~ N(0, {variance})\nx = W @ b\n")
    assert number(program.matrices[-1].variance) == pytest.approx(coefficient, rel=1e-14)


def test_the_variance_may_depend_on_subscripts_and_widths():
    program = load("index a in 1..3\nmatrix W[a] : (n, m) ~ N(0, a/(n + m))\nx[a] = W[a] @ b\n")
    matrix = program.matrices[-1]
    assert Evaluator(functions).array(matrix.variance, matrix.axes) == pytest.approx([0.2, 0.4, 0.6])


@pytest.mark.parametrize("scale, rule, coefficient", [
    ("/m", Moment, 1), ("/n", Moment, 1 / 4), ("/(n + m)", Moment, 1 / 5), ("/sqrt(n*m)", Moment, 1 / 2), ("*n/m^2", Moment, 4),
    ("/sqrt(m)", Score, 1), ("/sqrt(n)", Score, 1 / 2), ("*sqrt(n)/m", Score, 2), ("/sqrt(n + m)", Score, 5**-0.5),
    ("/(n*m)^(1/4)", Score, 2**-0.5), ("/(sqrt(n) + sqrt(m))", Score, 1 / 3), ("*2/sqrt(n)", Score, 1), ("/sqrt(n - m)", Score, 3**-0.5),
])
def test_powers_of_widths_in_the_scale_of_a_dot_cancel_to_a_ratio(scale, rule, coefficient):
    """Of a named dot and of one inside an expression: relative to the width of its two sides."""
    for text in (f"p = dot(b, Q @ h){scale}\n", f"p = 1 + dot(b, Q @ h){scale}\n"):
        found = families(text)
        definition = next(f.definition for f in found.values() if isinstance(f.definition, rule))
        body = definition.body if rule is Moment else mul_out(definition)
        product = number(substituted(body, 1.0))
        outside = found["p"].definition.body if text.startswith("p = 1") else None
        if outside is not None:
            product *= number(substituted(outside, 1.0)) - 1
        assert product == pytest.approx(coefficient, rel=1e-14)


def mul_out(score: Score):
    """left * right with a hidden left side written out."""
    left = score.left.family
    return (left.definition.body if left.hidden and hasattr(left.definition, "body") else score.left) * score.right


def substituted(expr, value: float):
    """Every value of the program replaced by a number."""
    from netsor.ir.expressions import Coord, Num, ScalarRef
    from netsor.ir.rewrite import rebuild

    if isinstance(expr, (Coord, ScalarRef)):
        return Num(value)
    return rebuild(expr, lambda child: substituted(child, value))


def test_one_width_leaves_nothing_behind():
    program = load_program(Source("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 2/n)\np = dot(h, W @ h)/sqrt(n)\nc = dot(h, h)/n\n"))
    assert program.widths == {"n": 1} and program.further_widths == {}
    assert program_text(program).splitlines()[:2] == ["program program, width n", "A   W ~ N(0, 2/width)"]


def test_the_listing_shows_widths_and_shapes():
    assert program_text(load("p = 2*dot(b, Q @ h)/sqrt(n)\n")) == """program program, width n, m = 1/4*n
param c = 3
A   Q : (m, n) ~ N(0, 1/n)
G   h : n    Input   N(0, 1)
G   g : n    Input   N(0, 1)
G   b : m    Input   N(0, 1)
G . p.1 : m  MatMul  Q @ h
G . p.2 : m  Nonlin  2 * m^(1/2) * n^(-1/2) * b
S   p        Score   dot(p.2, p.1)/sqrt(m)
output g from g
output p from p"""


def test_parts_of_different_widths_are_outputs_by_themselves():
    program = load("x[1] = h\nx[2] = Q @ h\noutput x\n")
    assert [(o.name, o.parts[0].reference.family.width) for o in program.outputs] == [("x[1]", "n"), ("x[2]", "m")]


def test_inputs_may_be_of_a_width_in_a_loop():
    program = load("for k in 1..2:\n  input u[k] : m ~ N(0, k)\n  matrix V[k] : (m, m) ~ N(0, k/m)\n  x[k] = V[k] @ u[k]\noutput x\n")
    assert [o.name for o in program.outputs] == ["x"]
    assert {f.name: f.width for f in program.families}["u"] == "m"
