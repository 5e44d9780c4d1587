"""``netsor check`` and what it shows of every stage."""

import pytest


def test_a_correct_program_is_one_line(cli, attention, relu):
    assert cli("check", relu).out == (
        "ok  relu: 2 definitions, 1 output; theorem: NETSOR master theorem (Yang 2019, arXiv:1910.12478)\n"
    )
    outcome = cli("check", attention)
    assert (
        outcome.status == 0 and "32 scores on 1 level, 1 expectation; theorem: limit with random scores" in outcome.out
    )


def test_the_conditions_of_the_theorem_are_checked(cli, program):
    outcome = cli("check", program("width n\ninput h ~ N(0, 1)\np = dot(h, h) / sqrt(n)\noutput p\n"))
    assert outcome.status == 1 and outcome.out == "" and "error[N401]" in outcome.err


def test_the_syntax_is_shown_even_if_the_program_means_nothing(cli, program):
    outcome = cli("check", program("width n\nx = relu(y)\n"), "--show", "syntax")
    assert outcome.status == 1 and "N201" in outcome.err
    assert outcome.out.splitlines()[:3] == ["Program", "  Width        width n   line 1", "    WidthNew     n"]


def test_kinds(cli, attention):
    rows = [line.split() for line in cli("check", attention, "--show", "kinds").out.splitlines()]
    kinds = {row[0]: row[1] for row in rows if len(row) > 2}
    assert [kinds[name] for name in ("WQ[a]", "h[i]", "q[a,i]", "p[a,i,j]", "A[a,i,j]", "y[i]")] == [
        "A",
        "G",
        "G",
        "S",
        "S",
        "G",
    ]


def test_levels(cli, attention, relu):
    text = cli("check", attention, "--show", "levels").out
    assert "group 1: 1 family of scores, level 1, bilinear" in text
    assert "p[a,i,j] = dot(q[a,i], k[a,j])/sqrt(n)" in text
    assert "batch axes: a, i, j" in text and "fresh factor: W" in text
    assert "no scores: the limit is not random" in cli("check", relu, "--show", "levels").out


def test_shared_matrices_make_one_group_of_several_levels(cli, program):
    path = program(
        "width n\nindex i, j in 1..2\nindex l in 1..2\ninput h[i] ~ N(0, 1)\nmatrix Q, K, V ~ N(0, 1/n)\nx[0,i] = h[i]\n"
        "for l in 1..2:\n  p[l,i,j] = dot(Q @ x[l-1,i], K @ x[l-1,j]) / sqrt(n)\n"
        "  x[l,i] = x[l-1,i] + sum(p[l,i,j] * (V @ x[l-1,j]) for j)\noutput p\n"
    )
    text = cli("check", path, "--show", "levels").out
    assert "group 1: 2 families of scores, levels 1 to 2, bilinear" in text and "group 2" not in text


def test_the_intermediate_representation(cli, attention):
    pytest.importorskip("netsor.ir.show")
    text = cli("check", attention, "--show", "ir").out
    assert "WQ" in text and "softmax" in text and text.splitlines()[-1].startswith("ok")


def test_json(cli, attention, program):
    found = cli("check", attention, "--json").json
    assert found["ok"] is True and found["theorem"]["proved"] is True and found["warnings"] == []
    assert cli("check", program("x = \n"), "--json").json["error"]
