"""Formulas are evaluated at what is given: nothing of it is ignored, and nothing that is missing is made up."""

from __future__ import annotations

import numpy as np
import pytest

from netsor.derive import Derivation
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source

PROGRAM = """
width n
param g
param L = 2
data K[B,B]
index b in 1..B
input x[0,b] ~ N(0, K)
for l in 1..L:
  matrix W[l] ~ N(0, g/n)
  x[l,b] = W[l] @ relu(x[l-1,b])
output x[L,b]
"""
DATA = {"K": np.array([[1, 0.2, 0.1], [0.2, 2, 0.3], [0.1, 0.3, 1.5]])}


def derivation() -> Derivation:
    return Derivation(load_program(Source(PROGRAM), free=True))


def test_data_and_parameters_of_sizes_not_seen():
    found = derivation().evaluate({"g": 2, "B": 3, "L": 2}, DATA)["Cov(x[2,b], x[2,b'])"]
    np.testing.assert_allclose(np.diag(found), np.diag(DATA["K"]), atol=1e-13)


@pytest.mark.parametrize(
    ("params", "data", "code"),
    [
        ({"B": 3}, DATA, "N503"),
        ({"g": 2, "B": 3}, {}, "N503"),
        ({"g": 2, "B": 2}, DATA, "N506"),
        ({"g": 2, "B": 3, "L": 5}, DATA, "N504"),
        ({"g": "two", "B": 3}, DATA, "N504"),
        ({"g": float("nan"), "B": 3}, DATA, "N504"),
        ({"g": 2, "B": 3, "sigma": 1}, DATA, "N205"),
        ({"g": 2, "B": 3}, {**DATA, "Q": [1]}, "N209"),
    ],
)
def test_what_is_missing_unknown_or_settled_is_said(params, data, code):
    with pytest.raises(NetsorError) as error:
        derivation().evaluate(params, data)
    assert error.value.diagnostics[0].code == code
