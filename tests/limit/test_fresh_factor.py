"""The fresh factor of a score may be one element of a family of matrices, told from the others by its subscripts."""

from __future__ import annotations

import pytest

import netsor
from netsor.language.diagnostics import NetsorError

START = """
width n
index a, b in 1..2
input x ~ N(0, 1)
matrix W[a] ~ N(0, 1/n)
v[a] = W[a] @ x
"""


@pytest.mark.parametrize("sides, variance", [
    ("v[1], v[2]", 1), ("v[1], relu(v[2])", 1 / 2), ("2*v[1] + x, v[2]", 5), ("v[1]*relu(v[2]), v[2]^2", 7.5),
])
def test_elements_of_one_family_are_different_sources(sides, variance):
    """E u^2 E relu(u)^2 and the like; E relu(u)^2 u^4 = 15/2."""
    f = netsor.parse(START + f"f = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)["f"]
    assert f.var.value == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("sides", ["v[1], v[1]", "v[1]^2, v[2]^2", "relu(v[1]), relu(v[2])", "v[a], v[b]"])
def test_what_has_none_is_refused(sides):
    left = "f[a,b]" if "a" in sides and "relu" not in sides else "f"
    with pytest.raises(NetsorError, match="N40[12]"):
        netsor.parse(START + f"{left} = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)
