"""Names that functions have in other libraries: what is said instead can be written."""

import re

import pytest

from netsor import parse
from netsor.language.callees import ELSEWHERE
from netsor.language.diagnostics import NetsorError

PROGRAM = """width n
param p = 0.1
index i, j, t, u in 1..3
input x ~ N(0, 1)
input X[i] ~ N(0, 1)
input m ~ Bernoulli(1 - p)
data a[3,3] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
matrix W ~ N(0, 1/n)
r[i,t] = {}
output r
"""


def written(hint: str) -> str | None:
    found = re.search(r"(?:write |it is |tells a rank: |\), and write |, and write )((?:.(?!, or |, for the place| here))*.)", hint)
    return found.group(1) if found else None


@pytest.mark.parametrize("name", [name for name in ELSEWHERE if name not in ("concat", "einsum", "matmul")])
def test_what_is_said_to_write_is_a_program(name):
    expression = written(ELSEWHERE[name])
    assert expression is not None
    if re.search(r"x\[[iju]\]", expression):
        expression = expression.replace("x[", "X[")
    parse(PROGRAM.format(expression + " + x"))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_diagnostic_says_it(name):
    with pytest.raises(NetsorError) as caught:
        parse(PROGRAM.format(f"{name}(x)"))
    diagnostic, = caught.value.diagnostics
    assert diagnostic.code == "N208" and diagnostic.hint == ELSEWHERE[name]
