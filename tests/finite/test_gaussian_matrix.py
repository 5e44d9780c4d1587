"""Products with a matrix that is never formed, against a dense one: both sides, rectangular, adaptive, beyond saturation."""

from __future__ import annotations

import numpy as np
import pytest

from netsor.finite.frame import Frame
from netsor.finite.gaussian_matrix import GaussianMatrix

RUNS = 10_000
DEVIATION = 0.7


class Dense:
    """The same interface, by drawing the matrix."""

    def __init__(self, rows: int, columns: int, rng):
        self.entries = DEVIATION * rng.standard_normal((RUNS, rows, columns))

    def times(self, vectors):
        return vectors @ self.entries.swapaxes(1, 2)

    def transposed_times(self, vectors):
        return vectors @ self.entries


class Conditional:
    def __init__(self, rows: int, columns: int, rng):
        self.matrix = GaussianMatrix(DEVIATION)
        self.fresh = {size: lambda count, size=size: rng.standard_normal((RUNS, count, size)) for size in (rows, columns)}
        self.rows, self.columns = rows, columns

    def times(self, vectors):
        return self.matrix.times(vectors, self.fresh[self.rows])

    def transposed_times(self, vectors):
        return self.matrix.transposed_times(vectors, self.fresh[self.columns])


def products(make, rows: int, columns: int, seed: int) -> dict[str, np.ndarray]:
    """Arguments depend on earlier products, nonlinearly; blocks of several; a repeated and a zero vector."""
    rng = np.random.default_rng(seed)
    matrix = make(rows, columns, rng)
    first = rng.standard_normal((RUNS, 2, columns))
    a = matrix.times(first)
    b = matrix.transposed_times(np.tanh(a))
    c = matrix.times(np.stack([b[:, 0], np.cos(b[:, 1]), first[:, 0], np.zeros((RUNS, columns))], axis=1))
    d = matrix.transposed_times(np.concatenate([c[:, :1] - a[:, :1], np.sign(a[:, 1:])], axis=1))
    e = matrix.times(d)
    f = matrix.transposed_times(e)
    assert np.allclose(c[:, 2], a[:, 0], atol=1e-9) and not c[:, 3].any()
    # the two sides must fit together: y . (W x) = (W.T y) . x
    assert np.allclose(np.einsum("rik,rjk->rij", np.tanh(a), e), np.einsum("rik,rjk->rij", b, d), atol=1e-8)
    return {"a": a[..., :2], "b": b[..., :2], "c": c[:, :2, :2], "d": d[..., :2], "e": e[..., :2], "f": f[..., :2]}


@pytest.mark.parametrize("rows, columns", [(8, 8), (4, 9), (9, 4), (3, 3), (2, 20)])
def test_the_law_is_that_of_one_matrix(rows, columns, differences):
    exact, dense = products(Conditional, rows, columns, 1), products(Dense, rows, columns, 2)
    for name in exact:  # few numbers at a time, with all their products
        assert differences({"a": exact["a"], name: exact[name]}, {"a": dense["a"], name: dense[name]}) == []


@pytest.mark.parametrize("forgotten", ["_inputs", "_outputs"])
def test_a_matrix_that_forgets_one_side_does_not_fit(forgotten):
    class Forgetful(Conditional):
        def transposed_times(self, vectors):
            setattr(self.matrix, forgotten, type(self.matrix._inputs)())
            return super().transposed_times(vectors)

    with pytest.raises(AssertionError):
        products(Forgetful, 6, 6, 1)


def test_nearly_dependent_vectors_keep_their_difference():
    """x and x + 1e-6 z: the difference of the products is 1e-6 W z, not rounding; 5 sigma of 10,000 runs (5 %)."""
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, RUNS, 1, 30))
    matrix = Conditional(2, 30, rng)
    result = matrix.times(np.concatenate([x, x + 1e-6 * z], axis=1))
    difference = (result[:, 1] - result[:, 0]) / 1e-6 / np.linalg.norm(z[:, 0], axis=-1, keepdims=True)
    squares = (difference / DEVIATION) ** 2
    assert abs(squares.mean() - 1) < 5 * squares.std() / np.sqrt(squares.size)
    assert matrix.matrix._inputs.vectors.shape[1] == 2


def test_basis_stays_orthonormal_and_no_longer_than_the_dimension():
    rng = np.random.default_rng(0)
    matrix = GaussianMatrix(1.0)
    for _ in range(10):
        matrix.times(rng.standard_normal((5, 3, 12)), lambda count: rng.standard_normal((5, count, 7)))
    basis = matrix._inputs.vectors
    assert basis.shape == (5, 12, 12)
    assert np.abs(basis @ basis.swapaxes(1, 2) - np.eye(12)).max() < 1e-13


@pytest.mark.parametrize("recorded", [0, 2, 4])
def test_gram_matrices_of_a_frame_are_wishart(recorded):
    """Six directions in R^4: E G = 4 I, Var G_ii = 8, Var G_ij = 4, E det G_3x3 = 4*3*2, rank 4; 5 sigma of 10,000 frames."""
    rng = np.random.default_rng(recorded)
    frame = Frame((RUNS,), 4, recorded, rng)
    parts = [frame.fresh(count) for count in (1, 2, 3)]
    vectors = np.concatenate([np.pad(part, ((0, 0), (0, 0), (0, 4 - part.shape[-1]))) for part in parts], axis=1)
    gram = vectors @ vectors.swapaxes(1, 2)
    for values, wanted in ((gram, 4 * np.eye(6)), ((gram - 4 * np.eye(6)) ** 2, 4 * np.ones((6, 6)) + 4 * np.eye(6))):
        error = values.std(axis=0) / np.sqrt(RUNS)
        assert (np.abs(values.mean(axis=0) - wanted) < 5 * error).all()
    determinants = np.linalg.det(gram[:, :3, :3])
    assert abs(determinants.mean() - 24) < 5 * determinants.std() / np.sqrt(RUNS)
    assert np.linalg.matrix_rank(gram[:50]).max() == 4


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_products_with_what_is_not_finite_are_not_and_the_others_are(place, bad):
    """Also where it is the first vector of all, or the only one, and there is no basis yet."""
    rng = np.random.default_rng(3)
    matrix, fresh = GaussianMatrix(1.0), lambda count: rng.standard_normal((5, count, 4))
    for vectors in (np.full((5, 1, 4), bad), rng.standard_normal((5, 3, 4)), rng.standard_normal((5, 3, 4))):
        if len(vectors[0]) == 3:
            vectors[:, place, 1] = bad
        with np.errstate(invalid="ignore"):
            products = matrix.times(vectors, fresh)
        good = np.isfinite(vectors).all(axis=-1)
        assert np.isnan(products[~good]).all() and np.isfinite(products[good]).all()
