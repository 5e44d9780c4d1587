"""Tree to program: which families there are, over which axes, made by which rule."""

import math

import pytest

from netsor.ir.expressions import Index, Num, Range
from netsor.ir.program import Given, Score
from netsor.ir.show import program_text
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source

START = """width n
param s = 3
index i, j in 1..s
index l in 1..2
input h[i] ~ N(0, 1)
matrix W[l], V ~ N(0, 1/n)
"""


def load(text: str, **options):
    return load_program(Source(text, "program.netsor"), **options)


def families(text: str, **options) -> list[str]:
    """The families that the lines after START define, as `netsor check --show ir` lists them."""
    shown = program_text(load(START + text, **options)).splitlines()
    lines = [" ".join(line.split()) for line in shown if line[:4] in ("G   ", "H   ", "C   ", "S   ") or line[1:3] == " ."]
    return [line for line in lines if line != "G h[i] Input N(0, 1)"]


def outputs(text: str, **options) -> list[str]:
    return [line[7:] for line in program_text(load(START + text, **options)).splitlines() if line.startswith("output")]


def test_attention_is_one_family_a_line():
    program = load("""width n
param s = 4
param H = 2
index i, j in 1..s
index a in 1..H
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i]     = clip(h[i], -100, 100)
q[a,i]   = WQ[a] @ x[i]
k[a,i]   = WK[a] @ x[i]
p[a,i,j] = dot(q[a,i], k[a,j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
v[a,i]   = WO[a] @ (WV[a] @ x[i])
y[i]     = sum(A[a,i,j] * v[a,j] for a, j) / sqrt(H)
output p, y
expect cov(y[1], y[2]) = 1/s within 1e-6
""")
    assert program_text(program) == """program program, width n
param s = 4
param H = 2
index a in 1..2
index i in 1..4
index j in 1..4
A   WQ[a] ~ N(0, 1/width)
A   WK[a] ~ N(0, 1/width)
A   WV[a] ~ N(0, 1/width)
A   WO[a] ~ N(0, 1/width)
G   h[i]      Input   N(0, 1)
H   x[i]      Nonlin  clip(h[i], -100, 100)
G   q[a,i]    MatMul  WQ[a] @ x[i]
G   k[a,i]    MatMul  WK[a] @ x[i]
S   p[a,i,j]  Score   dot(q[a,i], k[a,j])/sqrt(width)
S   A[a,i,j]  Scalar  softmax(p[a,i,j] for j)
G . v.1[a,i]  MatMul  WV[a] @ x[i]
G   v[a,i]    MatMul  WO[a] @ v.1[a,i]
G   y[i]      Nonlin  2^(-1/2) * sum(A[a,i,j] * v[a,j] for a, j)
output p[a,i,j] from p[a,i,j]
output y[i] from y[i]
expect cov(y[1], y[2]) = 1/4 within 1/1000000"""


# --- hidden families


def test_equal_products_are_computed_once_whatever_their_indices_are_called():
    assert families("x[i] = V @ relu(h[i]) + h[i]\ny[j] = tanh(V @ relu(h[j]))\nz = V @ relu(h[2]) - h[2]\n") == [
        "H . x.1[i] Nonlin relu(h[i])",
        "G . x.2[i] MatMul V @ x.1[i]",
        "G x[i] Nonlin x.2[i] + h[i]",
        "H y[j] Nonlin tanh(x.2[j])",
        "H . z.1 Nonlin relu(h[2])",
        "G . z.2 MatMul V @ z.1",
        "G z Nonlin z.2 + (-1) * h[2]",
    ]


def test_a_product_under_a_guard_is_never_asked_out_of_range():
    assert families("x[i] = sum(W[o+1] @ h[i+o-1] for o in 0..1 if i+o-1 >= 1)\n") == [
        "G . x.1[l,i] MatMul W[l] @ h[i]",
        "G x[i] Nonlin sum(x.1[o + 1,i + o + (-1)] for o if i + o + (-1) >= 1)",
    ]


def test_a_matrix_and_a_vector_with_the_same_index_share_an_axis():
    assert families("k[l,i] = relu(h[i])*l\nx[i] = sum(W[l] @ k[l,i] for l)\n") == [
        "H k[l,i] Nonlin relu(h[i]) * l",
        "G . x.1[l,i] MatMul W[l] @ k[l,i]",
        "G x[i] Nonlin sum(x.1[l,i] for l)",
    ]


def test_different_indices_of_matrix_and_vector_stay_apart():
    text = families("k[l,i] = relu(h[i])*l\nx[i] = sum(W[3-l] @ k[l,i] for l)\n")
    assert text[1].startswith("G . x.1[l,l,i] MatMul W[l] @ k[l'")
    assert text[2] == "G x[i] Nonlin sum(x.1[(-1) * l + 3,l,i] for l)"


def test_coordinatewise_structure_is_one_family():
    assert families("x = 2*relu(h[1]) + h[2]*tanh(h[3])^2\n") == [
        "H x Nonlin 2 * relu(h[1]) + h[2] * tanh(h[3])^2"]


# --- dots


@pytest.mark.parametrize("expression, expected", [
    ("dot(h[i], h[j])/n", ["C x[i,j] Moment avg(h[i] * h[j])"]),
    ("3*dot(h[i], h[j])/n", ["C x[i,j] Moment avg(3 * h[i] * h[j])"]),
    ("dot(h[i], h[j])/(2*n)", ["C x[i,j] Moment avg((1/2) * h[i] * h[j])"]),
    ("dot(h[i] - h[j], h[j])/n", ["C x[i,j] Moment avg((h[i] + (-1) * h[j]) * h[j])"]),
    ("1 + dot(h[i], h[j])/n", ["C . x.1[i,j] Moment avg(h[i] * h[j])", "C x[i,j] Scalar x.1[i,j] + 1"]),
    ("(dot(h[i], h[j])/n)^2", ["C . x.1[i,j] Moment avg(h[i] * h[j])", "C x[i,j] Scalar x.1[i,j]^2"]),
    ("dot(h[i], h[j])/sqrt(n)", ["S x[i,j] Score dot(h[i], h[j])/sqrt(width)"]),
    ("dot(h[i], h[j])*n^(-1/2)", ["S x[i,j] Score dot(h[i], h[j])/sqrt(width)"]),
    ("dot(h[i], h[j])/n*sqrt(n)", ["S x[i,j] Score dot(h[i], h[j])/sqrt(width)"]),
    ("dot(h[i], h[j])/sqrt(4*n)", ["G . x.1[i] Nonlin (1/2) * h[i]", "S x[i,j] Score dot(x.1[i], h[j])/sqrt(width)"]),
    ("-dot(h[i], h[j])/sqrt(n)", ["G . x.1[i] Nonlin (-1) * h[i]", "S x[i,j] Score dot(x.1[i], h[j])/sqrt(width)"]),
    ("1 + dot(h[i], h[j])/sqrt(n)/2", [
        "S . x.1[i,j] Score dot(h[i], h[j])/sqrt(width)", "S x[i,j] Scalar (1/2) * x.1[i,j] + 1"]),
    ("avg(h[i]*h[j])", ["C x[i,j] Moment avg(h[i] * h[j])"]),
    ("sqrt(avg(h[i]^2))*j", ["C . x.1[i] Moment avg(h[i]^2)", "C x[i,j] Scalar x.1[i]^(1/2) * j"]),
])
def test_scale_of_a_dot(expression, expected):
    assert families(f"x[i,j] = {expression}\n") == expected


def test_a_random_coefficient_stays_outside_the_score_and_a_deterministic_one_goes_in():
    lines = families("m[i] = avg(h[i]^2)\np[i] = m[i]*dot(h[i], h[1])/sqrt(n)\nr[i] = p[i]*dot(h[i], h[2])/sqrt(n)\n")
    assert lines[1:] == [
        "G . p.1[i] Nonlin m[i] * h[i]",
        "S p[i] Score dot(p.1[i], h[1])/sqrt(width)",
        "S . r.1[i] Score dot(h[i], h[2])/sqrt(width)",
        "S r[i] Scalar p[i] * r.1[i]",
    ]


# --- kinds


def test_kinds():
    lines = families("""g[i] = 2*h[i] + 1
f[i] = h[i]^2
p[i] = dot(h[i], V @ h[i])/sqrt(n)
c[i] = avg(f[i])
m[i] = avg(p[i]*h[i]*h[i])
y[i] = p[i]*h[i]
z[i] = V @ y[i]
v[i] = avg(z[i]^2)
e[i] = exp(c[i])
""")
    kinds = {line.split("[")[0][2:]: line[0] for line in lines if line[2] != "."}
    assert kinds == {"g": "G", "f": "H", "p": "S", "c": "C", "m": "S", "y": "G", "z": "G", "v": "S", "e": "C"}


def test_annotations_may_say_less_than_is_known():
    for kind, value in (("H", "h[1]"), ("G", "h[1]"), ("S", "avg(h[1])"), ("C", "avg(h[1])")):
        load(START + f"x : {kind} = {value}\n")


# --- loops, and names defined part by part


def test_a_loop_defines_one_family_a_pass():
    assert families("x[0,i] = h[i]\nfor t in 1..2:\n  x[t,i] = V @ x[t-1,i]\n") == [
        "G x[0,i] Nonlin h[i]", "G x[1,i] MatMul V @ x[0,i]", "G x[2,i] MatMul V @ x[1,i]"]


def test_a_loop_over_nothing_defines_nothing():
    assert families("x[0] = h[1]\nfor t in 1..0:\n  x[t] = V @ x[t-1]\n") == ["G x[0] Nonlin h[1]"]


def test_a_loop_variable_may_be_a_declared_index_and_is_then_a_number():
    assert families("for l in 1..2:\n  x[l,i] = W[l] @ h[i]\n") == [
        "G x[1,i] MatMul W[1] @ h[i]", "G x[2,i] MatMul W[2] @ h[i]"]


def test_matrices_and_inputs_of_a_loop_are_new_in_every_pass():
    program = load(START + "for t in 1..2:\n  matrix U[t] ~ N(0, t/n)\n  input b[t,i] ~ N(0, t)\n  x[t] = U[t] @ b[t,1]\n")
    assert [(matrix.name, matrix.constants, matrix.variance) for matrix in program.matrices[2:]] == [
        ("U", (1,), Num(1)), ("U", (2,), Num(2))]
    assert "G b[2,i] Input N(0, 2)" in families("for t in 1..2:\n  input b[t,i] ~ N(0, t)\n")


def test_an_index_over_parts_takes_its_values_one_by_one():
    lines = families("""x[0,i] = h[i]
for t in 1..2:
  x[t,i] = V @ x[t-1,i]
y[l,i] = W[l] @ x[l,i]
m = mean(x[t,1] for t in 0..2)
w[i] = sum(x[t,i] for t in 0..2 if t != 1)
q[i] = sum(W[l] @ x[l,i] for l)
""")
    assert lines[3:] == [
        "G y[1,i] MatMul W[1] @ x[1,i]", "G y[2,i] MatMul W[2] @ x[2,i]",
        "G m Nonlin (1/3) * (x[0,1] + x[1,1] + x[2,1])",
        "G w[i] Nonlin x[0,i] + x[2,i]",
        "G . q.1[i] MatMul W[1] @ x[1,i]", "G . q.2[i] MatMul W[2] @ x[2,i]", "G q[i] Nonlin q.1[i] + q.2[i]",
    ]


def test_only_the_index_that_needs_it_is_written_out():
    lines = families("x[1,i] = h[i]\nx[2,i] = 2*h[i]\ny = sum(x[l,i]*i for i, l)\n")
    assert lines[2] == "G y Nonlin sum(x[1,i] * i for i) + sum(x[2,i] * i for i)"


def test_what_is_excluded_may_be_undefined():
    lines = families("x[1] = h[1]\nx[3] = h[3]\ny = sum(x[i] for i if mod(i, 2) == 1)\nz[i] = x[i] if i != 2 else h[2]\n")
    assert lines[2:] == ["G y Nonlin x[1] + x[3]", "G z[1] Nonlin x[1]", "G z[2] Nonlin h[2]", "G z[3] Nonlin x[3]"]


def test_a_softmax_over_parts_chooses_between_them():
    lines = families("p[1] = dot(h[1], h[2])/sqrt(n)\np[2] = dot(h[1], h[3])/sqrt(n)\nA[l] = softmax(p[l] for l)\n")
    assert lines[2] == "S A[l] Scalar softmax(where(l == 1, p[1], p[2]) for l)"


def test_a_recurrence_over_a_declared_index_is_followed_in_order():
    assert families("index t in 2..3\nx[1] = h[1]\nx[t] = V @ x[t-1]\n") == [
        "G x[1] Nonlin h[1]", "G x[2] MatMul V @ x[1]", "G x[3] MatMul V @ x[2]"]


# --- subscripts


def test_equal_subscripts_have_equal_form():
    lines = families("x[i] = sum(h[1+i-j+j] for j if 1+i <= s) + sum(h[i+1] for j if i+1 <= s)\n")
    assert lines[0].count("h[i + 1]") == 2


@pytest.mark.parametrize("right", [
    "sum(h[i+o] for o in -1..1 if 1 <= i+o and i+o <= s)",
    "sum(h[i+o] for o in -1..1 if not (i+o < 1 or i+o > s))",
    "h[i+1] if i < s else h[1]",
    "h[mod(i, s) + 1]",
    "h[floor((i+1)/2)]",
    "sum(h[tok[t]] for t)",
    "sum(h[i+1]*o for o in 0..1 if i < s and o > 0)",
    "h[i-1] if i > 1 and avg(h[i-1]) > 0 else h[1]",
])
def test_subscripts_within_their_range(right):
    load(START + f"data tok[T] = [1, 3, 3, 2]\nindex t in 1..T\nx[i] = {right}\n")


@pytest.mark.parametrize("right, where", [
    ("sum(h[i+o] for o in -1..1 if 1 <= i+o)", "4 for i = 3, o = 1"),
    ("h[i+1] if i <= s else h[1]", "4 for i = 3"),
    ("h[2*i]", "4 for i = 2"),
    ("sum(h[tok[t]+1] for t)", "4 for t = 2"),
    ("h[i-1] if avg(h[i]) > 0 else h[1]", "0 for i = 1"),
])
def test_subscripts_out_of_range(right, where):
    with pytest.raises(NetsorError) as error:
        load(START + f"data tok[T] = [1, 3, 3, 2]\nindex t in 1..T\nx[i] = {right}\n")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "N304" and diagnostic.label.startswith(where)


# --- numbers


def test_numbers_are_exact():
    assert families("x = 0.1*h[1]/3 + 1e-3*h[2]*2^-2\n") == ["G x Nonlin (1/30) * h[1] + (1/4000) * h[2]"]


def test_conditions_on_numbers_are_decided():
    assert families("x = h[1] if s == 3 and 2^-1 < pi else nothing\n") == ["G x Nonlin h[1]"]


def test_reductions_over_nothing():
    assert families("x = h[1] + sum(h[i] for i in 2..1)\ny = h[1]*prod(h[i] for i if s > 3)\n") == [
        "G x Nonlin h[1]", "G y Nonlin h[1]"]


def test_a_mean_divides_by_the_terms_its_guard_admits():
    assert families("x[j] = mean(h[i] for i if i <= j)\n") == [
        "G x[j] Nonlin sum(h[i] for i if i <= j) * sum(1 for i if i <= j)^(-1)"]


def test_guards_may_compare_scalars():
    lines = families("""r[i] = dot(h[i], V @ h[1])/sqrt(n)
top[i] = softmax(r[i] for i if sum(1 for j if r[j] > r[i]) < 2)
y = sum(top[i]*h[i] for i if r[i] > 0 and i > 1)
""")
    assert lines[2:] == [
        "S top[i] Scalar softmax(r[i] for i if sum(1 for j if r[j] > r[i]) < 2)",
        "G y Nonlin sum(top[i] * h[i] for i if (r[i] > 0) and (i > 1))",
    ]


# --- functions of the program


def test_functions_are_inlined():
    assert families("def act(z, c=2) = c*z*sigmoid(z)\nx = act(h[1]) + act(c=3, z=h[2])\n") == [
        "H x Nonlin 2 * h[1] * sigmoid(h[1]) + 3 * h[2] * sigmoid(h[2])"]


def test_functions_may_take_functions_matrices_and_dots():
    assert families("def layer(M, f, z) = f(M @ z)\ndef scaled(d) = d/sqrt(n)\nx = layer(V, tanh, h[1])\np = scaled(dot(h[1], h[2]))\n") == [
        "G . x.1 MatMul V @ h[1]", "H x Nonlin tanh(x.1)", "S p Score dot(h[1], h[2])/sqrt(width)"]


def test_nothing_is_captured():
    (line,) = families("def total(z) = sum(z*h[i] for i)\nx[i] = total(h[i])\n")
    body = line.removeprefix("H x[i] Nonlin ")
    bound = body.split(" for ")[1].rstrip(")")
    assert bound != "i" and body == f"sum(h[i] * h[{bound}] for {bound})"


# --- inputs


def given(text: str) -> Given:
    program = load("width n\nindex g in 1..2\nindex t, r in 1..3\nconst K[t,r] = exp(-(t-r)^2)\nconst Q[g,t,r] = g\n" + text)
    return program.families[-1].definition


G, T, R = Index("g", Range(1, 2)), Index("t", Range(1, 3)), Index("r", Range(1, 3))


@pytest.mark.parametrize("text, second", [
    ("input u[t] ~ N(0, K)", (Range(1, 3),)),
    ("input u[t] ~ N(0, K[t,r])", (R,)),
    ("input u[g,t] ~ N(0, K[t,r])", (None, R)),
    ("input u[g,t] ~ N(0, g*K[t,r])", (None, R)),
    ("input u[t] ~ N(t, K[t,1])", (None,)),
    ("input u[t,r] ~ N(0, 1)", (None, None)),
    ("input u[t] ~ N(0, sum(K[t,q]*K[r,q] for q in 1..3))", (R,)),
])
def test_covariances(text, second):
    found = given(text).second
    assert tuple(each.range if isinstance(each, Index) and isinstance(s, Range) else each for each, s in zip(found, second)) == second


def test_a_constant_input_has_no_variance():
    definition = given("input u[t] ~ Const(t)")
    assert definition.mean == T and definition.covariance == Num(0) and definition.second == (None,)


# --- infinite axes


def test_an_infinite_axis_stays_symbolic():
    program = load("width n\nparam H = inf\nindex a in 1..H\nmatrix W[a] ~ N(0, 1/n)\ninput x ~ N(0, 1)\n"
                   "y = sum(W[a] @ x for a)/sqrt(H)\nz = mean(relu(W[a] @ x) for a)\np[a] = dot(x, W[a] @ x)/sqrt(n)\n")
    assert program.infinite == {"H"} and program.parameters["H"] == math.inf
    shown = program_text(program)
    assert "index a in 1..H" in shown and "G   y       Nonlin  H^(-1/2) * sum(y.1[a] for a)" in shown
    assert "H   z       Nonlin  H^(-1) * sum(relu(y.1[a]) for a)" in shown
    (score,) = (family for family in program.families if isinstance(family.definition, Score))
    assert score.axes[0].range == Range(1, math.inf, "H")


# --- outputs and expectations


def test_without_output_everything_that_nothing_uses():
    assert outputs("x[1] = V @ h[1]\nx[2] = V @ x[1]\nc = avg(h[1])\n") == ["x from x[2]", "c from c"]


def test_parts_that_fill_a_grid_are_one_output():
    text = "for t in 0..1:\n  for k in 1..2:\n    x[t,k,i] = h[i]\n"
    assert outputs(text + "output x\n") == ["x[t,k,i] from x[0,1,i], x[0,2,i], x[1,1,i], x[1,2,i]"]
    (output,) = load(START + text + "output x\n").outputs
    assert [axis.range for axis in output.axes] == [Range(0, 1), Range(1, 2), Range(1, 3)]
    assert [{axis.name: value for axis, value in part.constants.items()} for part in output.parts] == [
        {"t": 0, "k": 1}, {"t": 0, "k": 2}, {"t": 1, "k": 1}, {"t": 1, "k": 2}]


def test_parts_that_fill_no_grid_are_outputs_of_their_own():
    assert outputs("x[1,1] = h[1]\nx[1,2] = h[1]\nx[2,1] = h[1]\noutput x\n") == [
        "x[1,1] from x[1,1]", "x[1,2] from x[1,2]", "x[2,1] from x[2,1]"]


def test_an_output_with_subscripts_has_the_name_of_its_family_unless_there_are_several():
    text = "for t in 1..3:\n  x[t,i] = h[i]\n"
    assert outputs(text + "output x[s,i]\n") == ["x[i] from x[3,i]"]
    assert outputs(text + "output x[1,2], x[3,i]\n") == ["x[1,2] from x[1,2]", "x[3,i][i] from x[3,i]"]
    assert outputs(text + "output x[l,1]\n") == ["x[1,1] from x[1,1]", "x[2,1] from x[2,1]"]


def test_an_expectation_holds_for_every_value_of_a_free_index():
    program = load(START + "for t in 1..2:\n  x[t,i] = h[i]\nexpect cov(x[l,i], h[j]) = (1 if i == j else 0) within 1e-3\n")
    assert [line for line in program_text(program).splitlines() if line.startswith("expect")] == [
        f"expect cov(x[{t},i], h[j]) = where(i == j, 1, 0) within 1/1000 for every i, j" for t in (1, 2)]


# --- several errors


def test_every_statement_at_fault_is_reported_and_what_depends_on_it_is_not():
    with pytest.raises(NetsorError) as error:
        load(START + "x[i] = rleu(h[i])\ny[i] = V @ x[i]\nz = dot(y[1], h[1])\nw = h[7]\nfor t in 1..9:\n  v[t] = h\n")
    assert [(d.code, d.span.line) for d in error.value.diagnostics] == [("N208", 7), ("N304", 10), ("N303", 12)]
