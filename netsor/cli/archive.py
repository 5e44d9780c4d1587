"""``--out FILE.npz``: the arrays of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsor.cli.output_file import OutputFile

if TYPE_CHECKING:
    from netsor.limit.result import LimitResult


class Archive(OutputFile):
    """Arrays by name."""

    def __init__(self, path: str):
        super().__init__(path, (".npz",), "--out")

    def write(self, result: LimitResult) -> None:
        """``y.mean``, ``y.mean.error``, … for every output."""
        self.write_arrays(arrays(result))

    def write_arrays(self, named: dict) -> None:
        """Arrays by name."""
        import numpy as np

        np.savez(self.file, **named)
        self.complete()


def arrays(result: LimitResult) -> dict:
    """The arrays of a result: NAME.mean, .var, .cov (where it was computed), .excess_kurtosis, each with its .error."""
    found = {}
    for name, variable in result.items():
        for statistic in ("mean", "var", "cov", "excess_kurtosis"):
            if statistic != "cov" or variable.has_cov:
                estimate = getattr(variable, statistic)
                found[f"{name}.{statistic}"], found[f"{name}.{statistic}.error"] = estimate.value, estimate.error
    return found
