"""A Gaussian matrix that is never formed: products with it and with its transpose, drawn given all earlier products.

W has iid N(0, deviation^2) entries.  Let U be an orthonormal basis of the vectors that W was applied to, V one of those that W.T was
applied to; W U and W.T V are known.  For a unit vector u orthogonal to U,

    W u  |  past  =  V (W.T V).T u + (I - V V.T) g,      g ~ N(0, deviation^2 I),

and symmetrically for W.T (Bolthausen 2014; Bayati & Montanari 2011, Lemma 10).  The law of any sequence of products is that of one
matrix, exactly, whatever the sizes; arguments may depend on earlier products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.finite.frame import inner, magnitude, padded

NEGLIGIBLE = 1e-10
"""A vector whose part outside the span of earlier ones is smaller than this fraction of it lies in the span."""

Fresh = Callable[[int], np.ndarray]
"""``fresh(count)``: independent N(0, I) vectors of the space that products lie in, (..., count, coordinates)."""


class GaussianMatrix:
    """Independent matrices over the leading axes of the vectors given: arrays (..., count, coordinates).

    Coordinates may be those of R^n or of a growing frame.  ``deviation`` is a number or an array over the leading axes."""

    def __init__(self, deviation: float | np.ndarray):
        self.deviation = np.asarray(deviation, dtype=float)[..., None, None]
        self._inputs, self._outputs = Known(), Known()

    def times(self, vectors: np.ndarray, fresh: Fresh) -> np.ndarray:
        """W x for every x in ``vectors`` (..., count, columns): (..., count, rows)."""
        return self._draw(vectors, fresh, self._inputs, self._outputs)

    def transposed_times(self, vectors: np.ndarray, fresh: Fresh) -> np.ndarray:
        """W.T y for every y in ``vectors`` (..., count, rows): (..., count, columns)."""
        return self._draw(vectors, fresh, self._outputs, self._inputs)

    def _draw(self, vectors: np.ndarray, fresh: Fresh, own: "Known", other: "Known") -> np.ndarray:
        coefficients, unit = own.extend(vectors)
        images = self.deviation * fresh(unit.shape[-2])
        if other.vectors is not None:
            constraint = padded(other.vectors, images.shape[-1])
            images += (inner(unit, other.images) - inner(images, constraint)) @ constraint
        images *= np.any(unit != 0, axis=-1, keepdims=True)
        own.remember(unit, images)
        products = coefficients @ own.images
        products[~np.isfinite(vectors).all(axis=-1)] = np.nan  # they are in no basis, and their products no combination of images
        return products


class Known:
    """An orthonormal basis of the vectors met (rows; zero where a vector was in the span already) and its images."""

    def __init__(self) -> None:
        self.vectors: np.ndarray | None = None
        self.images: np.ndarray | None = None

    def extend(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of ``vectors`` over the old and new rows of the basis, and the new rows.

        Gram–Schmidt with every projection done twice: orthonormal to rounding."""
        count, rank = vectors.shape[-2:]
        basis = np.zeros((*vectors.shape[:-2], 0, rank)) if self.vectors is None else padded(self.vectors, rank)
        old = basis.shape[-2]
        coefficients = np.zeros((*vectors.shape[:-1], old + count))
        new = np.zeros(vectors.shape)
        lengths = magnitude(vectors)  # squares neither overflow nor vanish
        vectors = vectors / lengths
        coefficients[..., :old] = inner(vectors, basis)
        rest = vectors - coefficients[..., :old] @ basis
        for k in range(count):
            row, again = rest[..., k:k + 1, :], new[..., :k, :]
            for known, start in ((again, old), (basis, 0), (again, old)):
                part = inner(row, known)
                row = row - part @ known
                coefficients[..., k:k + 1, start:start + known.shape[-2]] += part
            length = np.linalg.norm(row, axis=-1)
            outside = length > NEGLIGIBLE * np.linalg.norm(vectors[..., k:k + 1, :], axis=-1)
            coefficients[..., k, old + k] = np.where(outside, length, 0.0)[..., 0]
            new[..., k, :] = np.where(outside[..., None], row / np.where(outside, length, 1.0)[..., None], 0.0)[..., 0, :]
        kept = np.flatnonzero(np.any(new != 0, axis=tuple(range(new.ndim - 2)) + (-1,)))
        columns = np.concatenate([np.arange(old), old + kept])
        return lengths * coefficients[..., columns], new[..., kept, :]

    def remember(self, unit: np.ndarray, images: np.ndarray) -> None:
        if self.vectors is None:
            self.vectors, self.images = unit, images
            return
        self.vectors = np.concatenate([padded(self.vectors, unit.shape[-1]), unit], axis=-2)
        rank = max(self.images.shape[-1], images.shape[-1])
        self.images = np.concatenate([padded(self.images, rank), padded(images, rank)], axis=-2)
