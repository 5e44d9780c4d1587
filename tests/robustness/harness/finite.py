"""A program at finite width: drawn with and without matrices, simulated, and compared with its limit."""

from __future__ import annotations

import json
import warnings
import zlib

import numpy as np

WIDTHS, RUNS = (1, 2, 3, 16), 8
SIMULATED, COMPARED, COMPARED_RUNS = 8, (8, 16), 200
SHARE = 4  # one program of so many is compared, which takes longest


def wrong(program, text: str) -> str:
    """What must not be in what is drawn of a program; "" if all is well.

    :raises NetsorError: if it has no reading at any of the widths."""
    from netsor.language.diagnostics import NetsorError

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused = []
        for width in WIDTHS:
            try:
                if found := _drawn(program, width):
                    return found
            except NetsorError as error:
                refused.append(error)
        if len(refused) == len(WIDTHS):
            raise refused[-1]
        found = _simulated(program)
        return found or (_compared(program) if zlib.crc32(text.encode()) % SHARE == 0 else "")


def _drawn(program, width: int) -> str:
    """The two samplers, by shape, and by what is never finite with matrices and always without (by chance, of common laws, it is not;
    the reverse has reasons: an infinite product is only known not to be finite without the matrix)."""
    for coordinates in (1, None):
        exact, dense = (
            program.sample(width, RUNS, coordinates=coordinates, method=method, workers=1) for method in ("exact", "dense"))
        for name in program.outputs:
            pair = exact[name], dense[name]
            if pair[0].shape != pair[1].shape or len(pair[0]) != RUNS:
                return f"shapes {pair[0].shape} and {pair[1].shape} of {name} at width {width}"
            always, never = np.isfinite(pair[0]).all(axis=0), ~np.isfinite(pair[1]).any(axis=0)
            if (always & never).any():
                return f"{name} at width {width} is finite without matrices and never with them"
    return ""


def _simulated(program) -> str:
    from netsor.cli.text.simulation import describe
    from netsor.compare import simulate

    found = simulate(program, SIMULATED, runs=100)
    off = [name for name, own in found.items() if not np.isfinite(own.draws).all()]
    if [note.split(": ")[0] for note in found.notes] != off:
        return f"not finite: {off}, said: {found.notes}"
    return _shown("\n".join(describe(found, 1.0)), found.as_dict())


def _compared(program) -> str:
    from netsor.cli.text.comparison import describe
    from netsor.compare import compare
    from netsor.language.diagnostics import NetsorError

    try:
        found = compare(program, COMPARED, COMPARED_RUNS, samples=1024, controls=True, kernel_densities=True)
    except NetsorError as error:  # no limit, or too large: what is drawn is well
        if "N901" in [diagnostic.code for diagnostic in error.diagnostics]:
            raise
        return ""
    return _shown("\n".join(describe(found, program.ir, COMPARED, 1.0)), found.as_dict())


def _shown(text: str, answer: dict) -> str:
    """The text has no number that is none, and the JSON object is strict."""
    json.dumps(answer, allow_nan=False)
    words = text.replace("(", " ").split()
    return f"the text says {sorted({'nan', 'NaN'} & set(words))}" if {"nan", "NaN"} & set(words) else ""
