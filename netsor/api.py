"""Programs in Python: load one, read its limit.

>>> import netsor
>>> program = netsor.load("programs/attention.netsor", s=8)
>>> limit = program.limit(seed=0)
>>> limit["y"].cov.value.shape
(8, 8)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from netsor import ir
    from netsor.derive import Derivation
    from netsor.language.diagnostics import NetsorError
    from netsor.limit.result import LimitResult


class Program:
    """A checked program and its readings.  Made by :func:`load` and :func:`parse`."""

    def __init__(
        self, ir: "ir.program.Program", read: Callable[..., "ir.program.Program"] | None = None, missing: "NetsorError | None" = None,
    ):
        """``read`` reads the program anew, for derivations; ``missing`` says which parameters have no value: then ``ir`` is the program
        with symbols in their place."""
        self._ir, self._read, self._missing = ir, read, missing

    @property
    def ir(self) -> "ir.program.Program":
        """The checked program, its parameters having their values.

        :raises NetsorError: if one has none (N503): then there are formulas only."""
        if self._missing is not None:
            raise self._missing
        return self._ir

    @property
    def name(self) -> str:
        """The file's stem, or "program"."""
        return self._ir.name

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their values in force; None for all that stay symbols, where one has no value."""
        return dict(self._ir.parameters)

    @property
    def outputs(self) -> list[str]:
        """Names of what is reported."""
        return [output.name for output in self._ir.outputs]

    def limit(
        self, *, samples: int | None = None, points: int | None = None, seed: int = 0, outputs: list[str] | None = None,
        progress: Callable[[int, int], None] | None = None, workers: int | None = None,
    ) -> "LimitResult":
        """The infinite-width limit.

        :param samples: samples of the scores, in 16 independent randomisations (rounded up to 16 times a power of two); None: as many as
            a second or so allows, between 2**12 and 2**18.  Programs without scores need none.
        :param points: quasi-random points for each expectation of several variables that has no better method, in each of 16
            randomisations (rounded up to a power of two); None: 2**13, and up to 2**15 where that takes a second or so and ``samples``
            is None too.  Errors fall about like 1/points.
        :param seed: reproduces every number, whatever the machine's number of cores.
        :param outputs: names of the outputs wanted; all by default.
        :param progress: called with (samples done, samples in all).
        :param workers: threads (None: one for each usable core, as far as memory allows); no number depends on it.
        :raises NetsorError: where the theorem does not cover the program, or a moment does not exist.
        """
        from netsor.limit.run import run_limit

        return run_limit(self.ir, samples=samples, points=points, seed=seed, outputs=outputs, progress=progress, workers=workers)

    def derive(self, *, outputs: list[str] | None = None, steps: bool = False) -> "Derivation":
        """The infinite-width limit as formulas.  Parameters are symbols unless they were given when the program was loaded, or their
        number decides its structure (the length of a loop).

        :param outputs: names of the outputs wanted; all by default.
        :param steps: every application of a rule as an equation of its own.
        :raises NetsorError: where the theorem does not cover the program.
        """
        from netsor.derive import Derivation

        return Derivation(self._ir if self._read is None else self._read(free=True), outputs, steps)

    def sample(
        self, width: int, runs: int, seed: int = 0, *, coordinates: int | None = 1, method: str = "exact", workers: int | None = None,
        progress: Callable[[int, int], None] | None = None, backend: str | None = None, scheduler: str | None = None,
    ) -> dict[str, "np.ndarray"]:
        """Draws of every output at a finite width, exact in law.

        :param coordinates: how many coordinates of vectors are recorded, jointly; None: all of them.
        :param method: "exact" forms no matrix and costs O(width); "dense" draws every matrix in full (slow, for checks).
        :param workers: processes for "exact" (None: one for each usable core); the same seed gives the same runs whatever their number.
        :param progress: called with (runs done, runs in all).
        :param backend: where "exact" draws: "loky" (processes, by default), "threading", or by all workers of a cluster, "dask" or "ray";
            the same runs everywhere.
        :param scheduler: the address of the cluster.
        :returns: arrays (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors; fewer runs if interrupted.
        :raises ValueError: for arguments that make no sense, and a backend or cluster that is not there.
        :raises NetsorError: where a further width vanishes, a parameter is infinite (both are ValueErrors too), or memory does not suffice.
        """
        if method == "dense":
            from netsor.finite.dense import sample_dense

            return sample_dense(self.ir, width, runs, seed, coordinates)
        if method != "exact":
            raise ValueError(f"method is 'exact' or 'dense', not {method!r}")
        from netsor.finite.sampling import sample

        return sample(self.ir, width, runs, seed, coordinates, workers, progress, backend, scheduler)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"<program {self.name} ({settings})>"


def load(path: str | Path, *, data: Mapping[str, Any] | None = None, plugins: list[str | Path] | None = None, **params: Any) -> Program:
    """The program in a file.  A parameter without a value may be left without one: then there is ``derive()`` alone.

    :param data: arrays or files for ``data`` statements, by name.
    :param plugins: Python files that define rules or nonlinearities.
    :param params: values of parameters: numbers, or constant expressions as text.
    :raises NetsorError: with everything that is wrong with it.
    """
    return _program(Path(path), params, data, plugins)


def parse(text: str, *, data: Mapping[str, Any] | None = None, plugins: list[str | Path] | None = None, **params: Any) -> Program:
    """The program in a text; see :func:`load`."""
    from netsor.language.source import Source

    return _program(Source(text), params, data, plugins)


def _program(source, params: dict[str, Any], data: Mapping[str, Any] | None, plugins: list[str | Path] | None) -> Program:
    from netsor.language import load_program
    from netsor.language.diagnostics import NetsorError

    read = partial(load_program, source, settings=params, data=data or {}, rules=_rules(plugins))
    try:
        return Program(read(), read)
    except NetsorError as error:
        if not any(each.code in FREE for each in error.diagnostics):
            raise
        free = read(free=True)  # raises what else is wrong
        if not all(each.code in FREE for each in error.diagnostics):
            raise
        return Program(free, read, _in_python(error))


FREE = {"N503": "give it one: netsor.load(…, {}=…)", "N505": "give them: netsor.load(…, data={{'{}': …}})"}
"""What formulas need no values of, parameters and data: the code of what is said where there are none, and the hint in Python."""


def _in_python(error: "NetsorError") -> "NetsorError":
    """What is missing, with hints for those who load programs in Python."""
    from netsor.language.diagnostics import NetsorError

    return NetsorError([
        replace(each, hint=FREE[each.code].format(each.span.text.partition("[")[0])) if each.span else each
        for each in error.diagnostics])


def _rules(plugins: list[str | Path] | None) -> dict[str, Any]:
    from netsor.plugins import load_plugins, rules

    load_plugins(plugins or [])
    return rules()
