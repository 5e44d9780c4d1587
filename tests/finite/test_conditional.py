"""Laws of outputs given everything drawn before: mixing them gives back the law of dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.finite.sampling import sample_conditional

RUNS = 10_000

PROGRAMS = {
    "attention": """
width n
index i, j in 1..2
index a in 1..2
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i] = relu(h[i])
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
y[i] = sum(softmax(p[a,i,j] for j) * (WO[a] @ (WV[a] @ x[j])) for a, j)
output y
""",
    "two layers with a residual stream": """
width n
index i, j in 1..2
input h[i] ~ N(0, 1)
input b ~ N(0, 0.3)
x[0,i] = h[i]
for l in 1..2:
  matrix WQ[l], WK[l], WV[l] ~ N(0, 1/n)
  p[l,i,j] = dot(WQ[l] @ x[l-1,i], WK[l] @ x[l-1,j]) / sqrt(n)
  x[l,i] = x[l-1,i] + sum(softmax(p[l,i,j] for j) * (WV[l] @ x[l-1,j]) for j) + (b if l == 2 else 0)
output x[2,i]
""",
    "a matrix used twice, with its argument": """
width n
index i in 1..2
input h[i] ~ N(0, 1)
matrix W, V[i] ~ N(0, 1/n)
x[i] = tanh(V[i] @ h[1])
u[i] = W @ x[i]
v[i] = W @ relu(x[i])
y[i] = u[i] + 2 * v[1] + x[i]
output y
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_mixing_the_conditional_laws_gives_the_law(name, differences):
    program = netsor.parse(PROGRAMS[name])
    (output,) = program.outputs
    law = sample_conditional(program.ir, 5, RUNS, seed=1)[output]
    roots = np.linalg.cholesky(law.covariance + 1e-12 * np.eye(2))
    rng = np.random.default_rng(3)
    drawn = law.mean[..., None] + roots @ rng.standard_normal((RUNS, 2, 1))
    assert differences({output: drawn}, program.sample(5, RUNS, 2, method="dense")) == []
    wrong = {output: law.mean[..., None] + 1.15 * roots @ rng.standard_normal((RUNS, 2, 1))}
    assert differences(wrong, program.sample(5, RUNS, 2, method="dense")) != []


def test_the_variance_of_the_attention_program_given_the_rest():
    """Given scores, Var y_i = sum over heads of A V V^T A^T / n, whose mean over runs is the variance of y; 5 sigma of both."""
    program = netsor.parse(PROGRAMS["attention"])
    law = sample_conditional(program.ir, 6, RUNS)["y"]
    assert not law.mean.any() and (np.linalg.eigvalsh(law.covariance) > -1e-12).all()
    variance, squares = law.covariance[:, 0, 0], program.sample(6, RUNS, 5, method="dense")["y"][:, 0] ** 2
    error = np.hypot(variance.std(), squares.std()) / np.sqrt(RUNS)
    assert abs(variance.mean() - squares.mean()) < 5 * error
    assert variance.std() < 0.7 * squares.std()  # and knows it more accurately than draws do


@pytest.mark.parametrize("line", ["y = relu(W @ h)\noutput y", "y = W @ h\nz = W @ y\nm = avg(z^2)\noutput y, m"])
def test_what_is_not_gaussian_given_the_rest_is_refused(line):
    program = netsor.parse(f"width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\n{line}\n")
    with pytest.raises(ValueError, match="no output is linear"):
        sample_conditional(program.ir, 5, 10)
