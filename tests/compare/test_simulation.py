"""Estimates at one width against exact values at that width."""

import json
from pathlib import Path

import numpy as np
import pytest

import netsor
from netsor.compare import simulate
from netsor.language.diagnostics import NetsorError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def attention():
    program = netsor.load(ROOT / "programs" / "attention.netsor", H=1, s=2)
    return simulate(program, 8, runs=20_000, seed=1, coordinates=3)


def test_variances_of_scores_are_exact_at_every_width(attention):
    """Var p_ii = 1 + 2/n, Var p_ij = 1, covariances 0: 5 errors each."""
    p = attention["p"]
    exact = np.array([[[1.25, 1.0], [1.0, 1.25]]])
    assert np.all(np.abs(p.var.value - exact) < 5 * p.var.error)
    assert np.all(np.abs(p.mean.value) < 5 * p.mean.error)
    diagonal = p.cov.value.reshape(4, 4).diagonal()
    assert diagonal == pytest.approx(p.var.value.ravel())
    assert p.cov.error.reshape(4, 4).diagonal() == pytest.approx(p.var.error.ravel(), rel=1e-4)


def test_shapes_of_estimates_and_draws(attention):
    assert attention["y"].shape == (2,) and attention["y"].cov.shape == (2, 2)
    assert attention["y"].draws.shape == (20_000, 2, 3) and attention["p"].draws.shape == (20_000, 1, 2, 2)
    assert list(attention) == ["p", "y"] and len(attention) == 2


def test_stated_errors_are_the_spread_over_seeds():
    """40 seeds: standardised deviations of variances of a linear network, exactly 1 in the mean, have variance 1 (5 sigma: 1.1)."""
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ h\noutput y")
    z = []
    for seed in range(40):
        var = simulate(program, 8, runs=500, seed=seed, coordinates=8)["y"].var
        z.append(float((var.value - 1) / var.error))
    assert 0.3 < np.var(z) < 2.1 and abs(np.mean(z)) < 0.8


def test_the_dictionary_is_strict_json(attention):
    found = json.loads(json.dumps(attention.as_dict(), allow_nan=False))
    assert found["width"] == 8 and found["variables"]["p"]["kind"] == "S"
    assert np.shape(found["variables"]["y"]["cov"]["value"]) == (2, 2)


def test_an_infinite_axis_has_no_finite_reading():
    with pytest.raises(NetsorError):
        simulate(netsor.load(ROOT / "programs" / "attention_infinite_heads.netsor"), 16, runs=100)
