"""Random programs with products in both directions, against every matrix drawn in full (``conftest.py`` says what is compared).

A product without its correction, or with a wrong coefficient, changes second moments by order one; the last test counts how many of
the programs notice when corrections are left out.
"""

from __future__ import annotations

import random

import pytest

import netsor
from netsor.limit import analysis
from netsor.rules.transpose import without_transposes

WIDTH, RUNS, PROGRAMS = 128, 200, 16
HEAD = """width n, m = 3*n/2
input x0, y0 ~ N(0, 1)
input b0 : m ~ N(0.2, 1)
matrix W ~ N(0, 1/n)
matrix R : (m, n) ~ N(0, 1/n)
"""
UNARY = ("tanh({})", "relu({})", "sin({})", "erf({} + 0.3)", "0.7*{}", "clip({}, -1, 0.5)", "step({})", "abs({}) - 0.5", "gelu({})")
BINARY = ("{} + 0.5*{}", "{} * tanh({})", "max({}, {})", "step({}) * sin({})", "{0} - avg({1}^2)*{1}/4", "where({0} > {1}, {0}, {1}) / 2")


def program(seed: int) -> str:
    """Ten definitions, each a product or a coordinatewise function of earlier vectors of the right width."""
    rng = random.Random(seed)
    vectors = {"n": ["x0", "y0"], "m": ["b0"]}
    lines = []
    for step in range(1, 11):
        width = rng.choice("nnm")
        if step % 2:
            matrix, source, target = rng.choice([("W", "n", "n"), ("W.T", "n", "n"), ("R", "n", "m"), ("R.T", "m", "n")])
            value, width = f"{matrix} @ {rng.choice(vectors[source][-2:])}", target
        elif rng.random() < 0.5 or len(vectors[width]) == 1:
            value = rng.choice(UNARY).format(rng.choice(vectors[width][-2:]))
        else:
            one, other = rng.sample(vectors[width][-4:], 2)
            shape = rng.choice(BINARY)
            value = shape.format(one, other)
        vectors[width].append(f"v{step}")
        lines.append(f"v{step} = {value}")
    shown = vectors["n"][2:][-3:] + vectors["m"][1:][-2:]
    return HEAD + "\n".join(lines) + f"\noutput {', '.join(shown)}\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_limit_agrees_with_finite_width(seed, agrees_with_dense):
    agrees_with_dense(program(seed), WIDTH, RUNS)


@pytest.mark.slow
def test_most_of_them_are_rejected_without_corrections(agrees_with_dense, monkeypatch):
    monkeypatch.setattr(analysis, "without_transposes", lambda program: without_transposes(program, corrected=False))
    noticed = 0
    for seed in range(PROGRAMS):
        try:
            agrees_with_dense(program(seed), WIDTH, RUNS)
        except AssertionError:
            noticed += 1
    assert noticed >= PROGRAMS // 2


def test_every_one_has_a_limit_or_says_why_not():
    found = 0
    for seed in range(PROGRAMS):
        try:
            analysis.Analysis(netsor.parse(program(seed)).ir)
            found += 1
        except netsor.NetsorError as error:
            assert all(each.code == "N406" for each in error.diagnostics)
    assert found == PROGRAMS
