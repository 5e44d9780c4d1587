"""The rewriting that the transpose rule is: which products get which corrections, with which elements and conditions."""

from __future__ import annotations

import pytest

import netsor
from netsor.ir.facts import uses
from netsor.ir.program import MatMul
from netsor.ir.show import program_text
from netsor.rules.transpose import two_way_products, without_transposes


def rewritten(text: str) -> list[str]:
    """The lines of the program without transposes that define something."""
    program, _ = without_transposes(netsor.parse("width n, m = 2*n\nindex i, j in 1..3\nindex a, b in 1..2\n" + text).ir)
    return [" ".join(line.split()) for line in program_text(program).splitlines() if line[:1] in "GHCS" and line[1:2] == " "]


def test_a_program_without_transposes_is_left_alone():
    program = netsor.parse("width n\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ relu(W @ x)\noutput y").ir
    assert without_transposes(program)[0] is program


def test_the_second_direction_gets_the_correction():
    lines = rewritten("input g ~ N(0, 1)\nmatrix W ~ N(0, 3/n)\nu = W @ g\nv = W.T @ tanh(u)\noutput v")
    assert "G u : n MatMul W @ g" in lines
    assert "G . v.fresh : n MatMul W.T @ v.1" in lines
    assert "C . v.response Moment avg(v.slope)" in lines
    assert "G v : n Nonlin v.fresh + 3 * v.response * g" in lines


def test_a_rectangular_matrix_has_the_ratio_of_its_sides():
    lines = rewritten("input g ~ N(0, 1)\nmatrix W : (m, n) ~ N(0, 1/n)\nu = W @ g\nv = W.T @ (2*u)\nw = W @ v\noutput w")
    assert "G v : n Nonlin v.fresh + 2 * m * n^(-1) * g" in lines, "rows/columns going back"
    assert any(line.startswith("G w : m Nonlin w.fresh +") and "m" not in line.split("fresh")[1] for line in lines), "not going forth"


def test_a_linear_function_needs_no_average():
    lines = rewritten("input g ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nu = W @ g\nv = W.T @ (u - g)\noutput v")
    assert not [line for line in lines if "Moment" in line]


@pytest.mark.parametrize("back, corrections", [
    ("W[1].T @ tanh(u[1,1])", 1), ("W[2].T @ tanh(u[1,1])", 0), ("sum(W[a].T @ tanh(u[a,1]) for a)", 1),
    ("W[1].T @ tanh(u[1,1] + u[2,1])", 1),
])
def test_only_the_same_element_of_a_family_is_corrected(back, corrections):
    lines = rewritten(f"input h[i] ~ N(0, 1)\nmatrix W[a] ~ N(0, 1/n)\nu[a,i] = W[a] @ h[i]\nv = {back}\noutput v")
    assert sum(".fresh" in line and "Nonlin" in line and "*" in line for line in lines) == corrections, lines


def test_a_sum_over_heads_keeps_the_head_of_the_matrix():
    """v[b] = W[b].T @ tanh(sum_a u[a]): of the sum over a the term a = b is left."""
    program, _ = without_transposes(netsor.parse("""
width n
index a, b in 1..4
input h ~ N(0, 1)
matrix W[a] ~ N(0, a/n)
u[a] = W[a] @ h
v[b] = W[b].T @ tanh(sum(u[a] for a))
output v
""").ir)
    corrected = next(f for f in program.families if f.name == "v")
    assert "sum" not in repr(corrected.definition.body)


def test_matrices_that_meet_in_one_direction_only_are_not_two_way():
    program = netsor.parse("""
width n
index a in 1..2
input h ~ N(0, 1)
matrix W[a], V ~ N(0, 1/n)
u = W[1] @ h
v = W[2].T @ u
w = V.T @ v
x = V.T @ w
y = W[2] @ x
output y
""").ir
    assert {family.name for family in two_way_products(program.families)} == {"v", "y"}


def test_families_of_the_rewritten_program_come_before_their_uses():
    program, fresh = without_transposes(netsor.load("programs/jacobian.netsor").ir)
    place = {family: k for k, family in enumerate(program.families)}
    assert all(place[used] < place[family] for family in program.families for used in uses(family))
    assert [family.order for family in program.families] == list(range(len(program.families)))
    assert all(isinstance(family.definition, MatMul) and not family.definition.transposed for family in fresh.values())
    assert all(reference in place for output in program.outputs for reference in (p.reference.family for p in output.parts))


def test_long_recurrences_are_written_out_once_each():
    """Thirty rounds: the rewritten program grows with the square of their number, not with two to its power."""
    program, _ = without_transposes(netsor.load("programs/semicircle.netsor", k=30).ir)
    assert len(program.families) < 30 * 30 * 3
