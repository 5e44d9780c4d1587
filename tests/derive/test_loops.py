"""Passes of loops as one line: every statement is an instance of a line, and a recurrent network takes as many lines for any length."""

from dataclasses import replace

import pytest
import sympy

from netsor.derive import Derivation
from netsor.derive.layers import _plain, _replaced
from netsor.language import load_program
from netsor.language.source import Source

RECURRENT = """width n
param T = {}
index t in 1..T
data G[T,T]
input u[t] ~ N(0, G)
matrix W ~ N(0, 1/n)
s[1] = erf(u[1])
for r in 2..T:
  s[r] = erf(W @ s[r-1] + u[r])
output s
"""
RESIDUAL = """width n
param L = 6
index b in 1..2
index k in 1..L
input h[b] ~ N(0, 1)
matrix W[k] ~ N(0, 1/n)
x[0,b] = h[b]
for l in 1..L:
  x[l,b] = x[l-1,b] + W[l] @ relu(x[l-1,b])
output x
"""


def derived(text: str) -> Derivation:
    return Derivation(load_program(Source(text), free=True))


def instances(line):
    """The line at all values of its letters."""
    if not line.passes:
        yield line.symbol, line.right
        return
    *inner, (letter, low, high) = line.passes
    for value in range(int(low), int(high) + 1):
        at = _replaced(line, {letter: sympy.Integer(value)})
        yield from instances(replace(at, passes=at.passes[:-1]))


@pytest.mark.parametrize("text", [RECURRENT.format(6), RESIDUAL, RESIDUAL.replace("W[l]", "W").replace("W[k]", "W")])
def test_lines_are_the_statements_and_nothing_else(text):
    found = derived(text)
    statements = {(s.symbol, s.right) for s in map(_plain, found.statements)}
    lines = [instance for line in map(_plain, found.lines) for instance in instances(line)]
    assert len(lines) == len(set(lines)) and set(lines) == statements


def test_a_recurrent_network_has_as_many_lines_for_any_length():
    lengths = {len(derived(RECURRENT.format(steps)).lines) for steps in (5, 6, 9)}
    assert len(lengths) == 1 and lengths.pop() <= 10


def test_each_pair_of_steps_is_in_one_line():
    text = derived(RECURRENT.format(6)).text()
    assert "K_(W s + u)[l,m] = G[m + 1,l + 1] + K_s[l,m]    for m = 1..4, l = m + 1..5" in text
    assert "Cov(s[l], s[m]) = K_s[l,m]    for m = 1..5, l = m + 1..6" in text
