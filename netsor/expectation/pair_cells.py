"""Arrays of pairs of Gaussian variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cells:
    """Means, variances and covariances of the pairs, one-dimensional arrays of one length."""

    mean_f: np.ndarray
    mean_g: np.ndarray
    var_f: np.ndarray
    var_g: np.ndarray
    cov: np.ndarray

    @staticmethod
    def of(*arrays: np.ndarray) -> Cells:
        return Cells(*arrays)

    def __len__(self) -> int:
        return len(self.cov)

    def __getitem__(self, part: Any) -> Cells:
        return Cells(self.mean_f[part], self.mean_g[part], self.var_f[part], self.var_g[part], self.cov[part])

    def swapped(self) -> Cells:
        return Cells(self.mean_g, self.mean_f, self.var_g, self.var_f, self.cov)

    @property
    def centred(self) -> bool:
        return not (np.any(self.mean_f) or np.any(self.mean_g))

    def correlation(self) -> tuple[np.ndarray, np.ndarray]:
        from netsor.nonlinearities.forms.geometry import correlation

        return correlation(self.var_f, self.cov, self.var_g)

    def distinct(self) -> tuple[Cells, np.ndarray]:
        """The different cells, and where each cell is among them."""
        stacked = np.stack([self.mean_f, self.mean_g, self.var_f, self.var_g, self.cov], axis=1)
        rows, back = np.unique(stacked, axis=0, return_inverse=True)
        return Cells(*rows.T), back.ravel()


def check_covariance(cells: Cells) -> None:
    """ValueError unless |cov| <= sqrt(var_f var_g) up to rounding."""
    bound = np.sqrt(cells.var_f) * np.sqrt(cells.var_g)
    excess = np.abs(cells.cov) - bound * (1 + 1e-6)
    if not np.all(np.isfinite(cells.cov)) or np.any(excess > 1e-300):
        worst = int(np.argmax(np.where(np.isfinite(excess), excess, np.inf)))
        raise ValueError(
            f"variances {cells.var_f[worst]:.6g} and {cells.var_g[worst]:.6g} do not allow covariance {cells.cov[worst]:.6g}"
        )
