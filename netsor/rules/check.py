"""A test of a plug-in's rule: does its draw at width n agree with its limit?"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from netsor.ir.expressions import Expr, Sym
from netsor.rules.vector import VectorRule

WIDTH, RUNS, VECTORS = 256, 400, 3
SIGMAS = 5.0


def check_rule(rule: VectorRule, *constants: float, seed: int = 0) -> None:
    """Check a rule of a plug-in; AssertionError with a sentence if something is wrong.

    Three fixed vectors of known Gram are given to ``draw`` in 400 runs at width 256.  The second moments of the results over coordinates
    must agree with ``limit`` of the Gram (5 sigma of the runs plus an allowance of 4/n for the finite width), results must be
    centred, and the coordinates of one result, standardised, Gaussian (Kolmogorov–Smirnov over runs of one coordinate).  False-alarm
    rate about 1e-5; a variance wrong by 4 % is found."""
    label = f"the rule {getattr(rule, 'name', rule)!r}"
    assert isinstance(rule, VectorRule), f"{label} is no VectorRule"
    _check_linear(rule, constants, label)
    rng = np.random.default_rng(seed)
    gram = np.array([[1.0, 0.5, -0.3], [0.5, 2.0, 0.2], [-0.3, 0.2, 0.7]])
    basis = np.linalg.qr(rng.standard_normal((WIDTH, VECTORS)))[0].T * np.sqrt(WIDTH)
    vectors = np.linalg.cholesky(gram) @ basis
    before = vectors.copy()
    runs = []
    for _ in range(RUNS):
        drawn = np.asarray(rule.draw(vectors, rng, *constants), dtype=float)
        assert drawn.shape == vectors.shape, f"{label}: draw returned shape {drawn.shape} for vectors of shape {vectors.shape}"
        assert np.isfinite(drawn).all(), f"{label}: draw returned numbers that are not finite"
        runs.append(drawn)
    assert np.array_equal(vectors, before), f"{label}: draw changed its argument"
    results = np.array(runs)
    wanted = np.array([[float(rule.limit(gram[i, j], *constants)) for j in range(VECTORS)] for i in range(VECTORS)])
    moments = np.einsum("rin,rjn->rij", results, results) / WIDTH
    error = moments.std(axis=0) / np.sqrt(RUNS)
    allowance = 4 / WIDTH * np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    off = np.abs(moments.mean(axis=0) - wanted)
    assert (off <= SIGMAS * error + allowance).all(), (
        f"{label}: at width {WIDTH} the second moments are\n{moments.mean(axis=0)}\nand the limit says\n{wanted}")
    centre = results.mean(axis=(0, 2))
    spread = np.sqrt(np.diag(wanted) / (RUNS * WIDTH)) * SIGMAS
    assert (np.abs(centre) <= spread * np.sqrt(WIDTH)).all(), f"{label}: results are not centred: means {centre}"
    _check_gaussian(results[:, 0, 0] / np.sqrt(wanted[0, 0]), label)


def _check_linear(rule: VectorRule, constants, label: str) -> None:
    """The limit must be a linear function of the kernel, on numbers and on expressions."""
    one, two, both = (float(rule.limit(k, *constants)) for k in (1.0, 2.5, 3.5))
    assert abs(one + two - both) <= 1e-12 * (abs(one) + abs(two)), f"{label}: limit is not linear in the kernel"
    symbolic = rule.limit(Sym("K"), *constants)
    assert isinstance(symbolic, Expr), f"{label}: limit of an expression must be an expression, not {type(symbolic).__name__}"
    assert one > 0, f"{label}: limit(1) is {one}; the variance of a unit vector must be positive"


def _check_gaussian(sample: np.ndarray, label: str) -> None:
    ordered = np.sort(sample)
    steps = np.arange(1, len(ordered) + 1) / len(ordered)
    distance = np.max(np.abs(ndtr(ordered) - steps + 0.5 / len(ordered))) + 0.5 / len(ordered)
    limit = 2.4 / np.sqrt(len(ordered))  # P(K > 2.4) = 2 exp(-2 * 2.4^2) = 2e-5
    assert distance < limit, f"{label}: a coordinate is not Gaussian over runs (Kolmogorov–Smirnov distance {distance:.3f})"
