"""Gated recurrent networks of several steps: products of gates factored, against one integral over all gates and candidates together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, qmc

import netsor

POINTS, RUNS = 2**15, 16


def tokens(steps: int) -> np.ndarray:
    return 0.5 ** np.abs(np.subtract.outer(np.arange(steps), np.arange(steps)))


def program(kind: str, steps: int) -> netsor.Program:
    return netsor.parse(f"""
width n
import std.recurrent
data K[{steps},{steps}]
index t in 1..{steps}
input x[t] ~ N(0, K)
h[t] = {kind}(x[t], {steps})
output h
""", data={"K": tokens(steps)})


def joint(kind: str, steps: int, seed: int) -> np.ndarray:
    """E h_s h_t from points of all variables of all steps together: nothing is factored, no covariance of h is taken from anywhere else.

    The variables of step t have the covariance of the tokens plus that of the states before (0 for the first), known when step t is
    reached, since points of earlier steps do not depend on it."""
    names = {"gru": "zrc", "lstm": "fioc"}[kind]
    columns = steps * len(names)
    normals = norm.ppf(np.clip(qmc.Sobol(columns, seed=seed).random(POINTS), 1e-15, 1 - 1e-15)).reshape(POINTS, steps, len(names))
    K = tokens(steps)
    before = np.zeros((POINTS, steps + 1))  # states, that of step 0 first
    cell, gated = np.zeros(POINTS), np.zeros((POINTS, steps))
    variables = {name: np.zeros((POINTS, steps)) for name in names}
    for t in range(steps):
        states = before[:, :t + 1].T @ before[:, :t + 1] / POINTS
        if kind == "gru" and t:
            gated[:, t] = expit(variable(normals, variables, "r", names, K + padded(states, steps), t)) * before[:, t]
        inputs = gated[:, :t + 1].T @ gated[:, :t + 1] / POINTS if kind == "gru" else states
        for name in names:
            if name != "r":
                variable(normals, variables, name, names, K + padded(inputs if name == "c" else states, steps), t)
        own = {name: values[:, t] for name, values in variables.items()}
        if kind == "gru":
            z = expit(own["z"])
            before[:, t + 1] = z * before[:, t] + (1 - z) * np.tanh(own["c"])
        else:
            cell = (expit(own["f"]) * cell if t else 0.0) + expit(own["i"]) * np.tanh(own["c"])
            before[:, t + 1] = expit(own["o"]) * np.tanh(cell)
    return before[:, 1:].T @ before[:, 1:] / POINTS


def padded(states: np.ndarray, steps: int) -> np.ndarray:
    return np.pad(states, (0, steps - len(states)))


def variable(normals, variables, name, names, covariance, t) -> np.ndarray:
    """The values of one variable of step t: row t of a Cholesky factor, whose earlier rows do not change any more."""
    row = np.linalg.cholesky(covariance[:t + 1, :t + 1])[t]
    variables[name][:, t] = normals[:, :t + 1, names.index(name)] @ row
    return variables[name][:, t]


@pytest.mark.parametrize("kind, steps, stated", [("gru", 4, 1e-7), ("lstm", 3, 1e-5)])
def test_against_all_variables_together(kind, steps, stated):
    """Ten comparisons at 5 standard errors of 15 degrees of freedom: false alarms below 2e-3; what is off by 3e-4 is seen."""
    found = program(kind, steps).limit()["h"]
    runs = np.array([joint(kind, steps, seed) for seed in range(RUNS)])
    error = np.hypot(runs.std(axis=0, ddof=1) / np.sqrt(RUNS), found.cov.error)
    assert np.all(np.abs(found.cov.value - runs.mean(axis=0)) < 5 * error)
    assert error.max() < 6e-5 and found.cov.error.max() < stated


def test_more_points_are_more_digits():
    """Sixteen times the points: a tenth of the error, or a fifth by bad luck; the numbers agree within five errors."""
    rough, fine = (program("lstm", 3).limit(points=points, outputs=["h"])["h"] for points in (2**11, 2**15))
    assert np.all(np.abs(rough.cov.value - fine.cov.value) < 5 * rough.cov.error + 1e-12)
    assert fine.cov.error[2, 2] < rough.cov.error[2, 2] / 5
    assert "32768 points" in fine.cov.method
    with pytest.raises(ValueError, match="points"):
        program("lstm", 3).limit(points=0)


@pytest.mark.slow
def test_seven_steps_of_a_gru():
    """Some 150 expectations in five to seven variables and 70 on grids: stated errors of some 1e-6, and two seeds agree."""
    one, two = (program("gru", 7).limit(points=points, seed=seed)["h"] for points, seed in ((2**12, 1), (2**13, 0)))
    assert two.cov.error.max() < 3e-6
    assert np.all(np.abs(one.cov.value - two.cov.value) < 6 * np.hypot(one.cov.error, two.cov.error))
