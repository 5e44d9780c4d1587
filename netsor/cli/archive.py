"""``--out FILE.npz``: the arrays of a result, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from netsor.limit.result import LimitResult


class Archive:
    """A file that is opened before the computation, so that a place that cannot be written to is found at once, and
    takes its name when it is complete."""

    def __init__(self, path: str):
        self.path = Path(path)
        if self.path.suffix != ".npz":
            raise click.BadParameter(f"{path!r} does not end in .npz", param_hint="'--out'")
        if self.path.is_dir():
            raise click.BadParameter(f"{path!r} is a directory", param_hint="'--out'")
        if self.path.exists() and not os.access(self.path, os.W_OK):
            raise click.BadParameter(f"{path!r} cannot be written: it is read-only", param_hint="'--out'")
        self._target = Path(os.path.realpath(self.path))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}.part")
        try:
            self._file = open(self._part, "xb")
        except OSError as error:
            raise click.BadParameter(f"{path!r} cannot be written: {error.strerror}", param_hint="'--out'") from None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)

    def write(self, result: LimitResult) -> None:
        """``y.mean``, ``y.mean.error``, … for every output."""
        self.write_arrays(arrays(result))

    def write_arrays(self, named: dict) -> None:
        """Arrays by name."""
        import numpy as np

        np.savez(self._file, **named)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._part, self._target)


def arrays(result: LimitResult) -> dict:
    """The arrays of a result: NAME.mean, .var, .cov (where it was computed), .excess_kurtosis, each with its .error."""
    found = {}
    for name, variable in result.items():
        for statistic in ("mean", "var", "cov", "excess_kurtosis"):
            if statistic != "cov" or variable.has_cov:
                estimate = getattr(variable, statistic)
                found[f"{name}.{statistic}"], found[f"{name}.{statistic}.error"] = estimate.value, estimate.error
    return found
