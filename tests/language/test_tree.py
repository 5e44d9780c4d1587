"""Text to tree: precedence, spans, long chains as one node."""

import pytest

from netsor.language import syntax
from netsor.language.parse import parse


def shape(node) -> str:
    """An expression with all its brackets."""
    match node:
        case syntax.Number():
            return node.text
        case syntax.Infinity():
            return "inf"
        case syntax.Name():
            subscripts = f"[{','.join(map(shape, node.subscripts))}]" if node.subscripts else ""
            return node.dotted + subscripts
        case syntax.Transpose():
            return f"{shape(node.operand)}.T"
        case syntax.Call():
            keywords = [f"{each.name.name}={shape(each.value)}" for each in node.keywords]
            return f"{shape(node.function)}({', '.join([*map(shape, node.arguments), *keywords])})"
        case syntax.Reduction():
            binders = ", ".join(b.name.name + (f" in {shape(b.range.low)}..{shape(b.range.high)}" if b.range else "")
                                for b in node.binders)
            guard = f" if {shape(node.guard.condition)}" if node.guard else ""
            return f"{shape(node.function)}({shape(node.body)} for {binders}{guard})"
        case syntax.Conditional():
            return f"({shape(node.value)} if {shape(node.condition)} else {shape(node.otherwise)})"
        case syntax.Either() | syntax.Both():
            word = " or " if isinstance(node, syntax.Either) else " and "
            return f"({word.join(map(shape, node.operands))})"
        case syntax.Negation():
            return f"(not {shape(node.operand)})"
        case syntax.Compare():
            parts = [shape(node.operands[0])]
            for operator, operand in zip(node.operators, node.operands[1:]):
                parts += [operator, shape(operand)]
            return f"({' '.join(parts)})"
        case syntax.Add() | syntax.Multiply():
            signs = node.signs if isinstance(node, syntax.Add) else node.operators
            parts = [shape(node.operands[0])]
            for sign, operand in zip(signs[1:], node.operands[1:]):
                parts += [sign, shape(operand)]
            return f"({' '.join(parts)})"
        case syntax.Negative():
            return f"(-{shape(node.operand)})"
        case syntax.MatMul():
            return f"({shape(node.left)} @ {shape(node.right)})"
        case syntax.Power():
            return f"({shape(node.base)} ^ {shape(node.exponent)})"
    raise TypeError(node)


def expression(text: str):
    (statement,) = parse(f"x = {text}\n").statements
    return statement.value


@pytest.mark.parametrize("text, expected", [
    ("a if b else c if d else e", "(a if b else (c if d else e))"),
    ("a or b and not c < d", "(a or (b and (not (c < d))))"),
    ("a < b <= c == d", "(a < b <= c == d)"),
    ("a - b + c", "(a - b + c)"),
    ("a - (b + c)", "(a - (b + c))"),
    ("a + b*c/d", "(a + (b * c / d))"),
    ("-x^2", "(-(x ^ 2))"),
    ("2^-x^y", "(2 ^ (-(x ^ y)))"),
    ("a^b^c", "(a ^ (b ^ c))"),
    ("a**b", "(a ^ b)"),
    ("W2 @ W1 @ x", "(W2 @ (W1 @ x))"),
    ("W @ x^2", "(W @ (x ^ 2))"),
    ("W @ -x", "(W @ (-x))"),
    ("-W @ x * y", "((-(W @ x)) * y)"),
    ("+x", "x"),
    ("W[a].T @ y", "(W[a].T @ y)"),
    ("f(x[i,j], c=0.1,)", "f(x[i,j], c=0.1)"),
    ("sum(x[i+o] for i, o in -1..1 if 1 <= i+o)", "sum(x[(i + o)] for i, o in (-1)..1 if (1 <= (i + o)))"),
    ("z.p[l,1]", "z.p[l,1]"),
    ("∞ + inf", "(inf + inf)"),
    ("(a +\n   b)\n", "(a + b)"),
    ("2^(-8*a/H)*abs(i-j)", "((2 ^ ((-8) * a / H)) * abs((i - j)))"),
])
def test_precedence(text, expected):
    assert shape(expression(text)) == expected


def test_unary_minus_binds_tighter_than_products():
    assert shape(expression("-8*a")) == "((-8) * a)"


def test_two_points_are_a_range_and_one_is_part_of_a_number():
    (statement,) = parse("index i in 1..3\n").statements
    assert (statement.range.low.value, statement.range.high.value) == (1, 3)
    assert expression("1.5e-3").value == 0.0015
    assert isinstance(expression("12").value, int)


def test_every_node_spans_its_text():
    text = "y[i] = sum(A[i,j] * (W @ x[j]) for j if j <= i) / sqrt(H)\n"
    (statement,) = parse(text).statements
    assert statement.span.text == text.strip()
    quotient = statement.value
    assert quotient.span.text == "sum(A[i,j] * (W @ x[j]) for j if j <= i) / sqrt(H)"
    reduction = quotient.operands[0]
    assert reduction.body.span.text == "A[i,j] * (W @ x[j])"
    assert reduction.body.operands[1].span.text == "(W @ x[j])"  # brackets belong to what they enclose
    assert reduction.guard.span.text == "if j <= i"


def test_statements():
    text = '''"""A program."""
# comment
width n, m = 2*n
param H = 2, K
index i, j in 1..3     # comment
index k like i
data X[B, 2] = [[1, 2], [3, 4],]
const c[i] = i
input a[i], b[i] : m ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/n)
def f(z, c=0.1) = c*z
import "other.netsor"
import std.transformer

block attention(x[i], H, phi=relu):
  y = x
  return y

for l in 1..3:
  for k in 1..2:

    # comment at another depth
    x[l,k] : H = a[1]
  z[l] = x[l,1]
output x[1,i], z.p
expect cov(x, x) = 1 within 1e-3
'''
    program = parse(text)
    assert program.docstring == "A program."
    assert [type(each).__name__ for each in program.statements] == [
        "Width", "Param", "IndexIn", "IndexLike", "Data", "Const", "Input", "Matrix", "Function", "ImportFile", "ImportStd",
        "Block", "Loop", "Output", "Expect"]
    loop = program.statements[12]
    assert [type(each).__name__ for each in loop.statements] == ["Loop", "Definition"]
    assert loop.statements[0].statements[0].kind.name == "H"
    inputs = program.statements[6]
    assert [each.name.name for each in inputs.elements] == ["a", "b"] and inputs.size.dotted == "m"
    block = program.statements[11]
    assert [formal.element.name.name for formal in block.formals] == ["x", "H", "phi"]
    assert program.statements[13].names[1].dotted == "z.p"


def test_a_chain_is_one_node():
    terms = expression(" + ".join(["x"] * 1000))
    assert isinstance(terms, syntax.Add) and len(terms.operands) == 1000
    assert len(expression("*".join(["x"] * 1000)).operands) == 1000
    assert len(expression(" and ".join(["x < y"] * 1000)).operands) == 1000


def test_nested_indentation_ends_where_it_began():
    program = parse("for i in 1..2:\n  for j in 1..2:\n    x = 1\ny = 2")
    assert [type(each).__name__ for each in program.statements] == ["Loop", "Definition"]
