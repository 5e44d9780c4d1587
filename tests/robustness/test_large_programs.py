"""Programs that are large and mean it are not refused, and take seconds."""

import time
from pathlib import Path

import numpy as np
import pytest

import netsor

PROGRAMS = Path(__file__).parents[2] / "programs"
START = "width n\nindex i in 1..10000\ninput h[i] ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\n"


def in_time(seconds: float, program: netsor.Program, **options):
    """The limit, which must come within so many seconds of processor time."""
    start = time.process_time()
    limit = program.limit(**options)
    assert time.process_time() - start < seconds
    return limit


def test_four_hundred_layers():
    limit = in_time(60, netsor.load(PROGRAMS / "mlp.netsor", L=400))
    assert np.isfinite(limit["h"].cov.value).all()


def test_two_thousand_inputs():
    program = netsor.parse("""width n
index b, c in 1..2000
const K[b,c] = exp(-abs(b-c)/100)
input g[b] ~ N(0, K)
matrix W ~ N(0, 2/n)
x[b] = W @ relu(g[b])
output x""")
    limit = in_time(60, program)
    assert limit["x"].var.value == pytest.approx(np.ones(2000))


def test_sixty_four_tokens_and_twelve_heads():
    limit = in_time(60, netsor.load(PROGRAMS / "attention.netsor", s=64, H=12), samples=64)
    assert limit["y"].var.shape == (64,)


def test_twelve_shared_layers():
    limit = in_time(90, netsor.load(PROGRAMS / "universal_transformer.netsor", s=16, H=8, L=12), samples=16)
    assert limit["x"].var.shape == (16,)


def test_ten_thousand_explicit_terms():
    """Written out term by term, a sum is what it is over an index."""
    def explicit(term: str) -> str:
        return " + ".join(term.format(k=k) for k in range(1, 10_001))

    linear = in_time(60, netsor.parse(START + "x = " + explicit("{k}*h[{k}]") + "\noutput x"))
    assert linear["x"].var.value == pytest.approx(sum(k**2 for k in range(1, 10_001)), rel=1e-12)
    functions = in_time(60, netsor.parse(START + "x = W @ (" + explicit("relu(h[{k}])") + ")\noutput x"))
    mean, second = np.sqrt(1 / (2 * np.pi)), 0.5
    assert functions["x"].var.value == pytest.approx(10_000 * (second - mean**2) + 10_000**2 * mean**2, rel=1e-12)


def test_long_sums_with_gaps_and_repetitions():
    """Coefficients of equal terms add up, runs are joined, what stands alone stays; several subscripts may move together."""
    kept = [k for k in range(1, 101) if k not in (7, 90)]
    start = START.replace("10000", "100").replace("N(0, 1)\nmat", "N(0, i)\nmat")
    terms = " + ".join(f"{k % 5 - 1}*relu(h[{k}])*h[{k}]" for k in kept)  # E relu(z) z = Var(z)/2
    limit = netsor.parse(start + f"m = avg({terms} + 2*relu(h[3])*h[3] + h[50] - 1/3)\noutput m").limit()
    assert limit["m"].mean.value == pytest.approx(sum((k % 5 - 1) * k / 2 for k in kept) + 3 - 1 / 3, rel=1e-12)
    terms = " + ".join(f"{k % 5 - 1}*h[{k}]" for k in kept)
    limit = netsor.parse(start + f"x = {terms} + 2*h[3] + h[7] + 5\noutput x").limit()
    variance = sum((k % 5 - 1 + 2 * (k == 3)) ** 2 * k for k in kept) + 7
    assert (limit["x"].var.value, limit["x"].mean.value) == pytest.approx((variance, 5), rel=1e-12)


def test_a_hundred_brackets_and_functions():
    bracketed = netsor.parse(START + "x = W @ " + "(" * 100 + "h[1]" + ")" * 100 + "\noutput x").limit()
    assert bracketed["x"].var.value == pytest.approx(1)
    nested = netsor.parse(START + "x = W @ " + "tanh(" * 90 + "h[1]" + ")" * 90 + "\noutput x").limit()
    assert 0 < nested["x"].var.value < 0.1


def test_densely_connected_layers():
    limit = in_time(60, netsor.parse("""width n
input h ~ N(0, 1)
x[0] = h
for l in 1..30:
  matrix W[l] ~ N(0, 1/n)
  x[l] = W[l] @ sin(sum(x[k] for k in 0..l-1)) / l
output x[30]"""))
    assert 0 < limit["x"].var.value < 1
