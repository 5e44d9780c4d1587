"""A process that reads programs (one JSON object a line) and answers what became of each.

Memory and processor time are limited; processor time does not depend on what else the machine does.  The answer is "limit" or "drawn",
whichever was asked for, or "error" with diagnostic codes for what must be, anything else for what must not.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
import traceback
from pathlib import Path

MEMORY = 3 * 2**30
SAMPLES = 32
# What is refused as too large or too long, so small here that what is not refused must keep within the limits of the process: the
# estimates are tested with the rest.
ARRAY_BYTES, EFFORT_SECONDS, TERMS_IN_ONE, TERMS_IN_ALL, FAMILIES = 2**28, 2.5, 10_000, 10_000, 10_000
LIMIT, FINITE = "limit", "finite"  # what is asked of a program


class OutOfTime(BaseException):
    """Raised in the middle of whatever takes too long."""


def attempt(text: str, path: str, seconds: float, stage: str = LIMIT) -> dict:
    """What becomes of a program: {"outcome": …, "detail": …}."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return _attempt(text, path, stage)
    except OutOfTime:
        return {"outcome": "time", "detail": _where(traceback.format_exc())}
    except MemoryError:
        return {"outcome": "memory", "detail": _where(traceback.format_exc())}
    except Exception as error:
        return {"outcome": type(error).__name__, "detail": _where(traceback.format_exc())}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _attempt(text: str, path: str, stage: str) -> dict:
    from harness import finite
    from netsor.api import Program
    from netsor.language import load_program
    from netsor.language.diagnostics import NetsorError
    from netsor.language.source import Source

    try:
        program = Program(load_program(Source(text, Path(path).name, Path(path))))
        if stage == FINITE:
            wrong = finite.wrong(program, text)
            return {"outcome": "wrong draws" if wrong else "drawn", "detail": wrong}
        result = program.limit(samples=SAMPLES, workers=1)
        wrong = _not_numbers(result)
        _shown(result)
    except NetsorError as error:
        codes = [diagnostic.code for diagnostic in error.diagnostics]
        if not codes or not str(error) or "N901" in codes:
            cause = "" if error.__cause__ is None else "".join(traceback.format_exception(error.__cause__))
            return {"outcome": "bug", "detail": _where(cause) or str(error)}
        return {"outcome": "error", "detail": " ".join(codes)}
    return {"outcome": "not a number", "detail": wrong} if wrong else {"outcome": "limit", "detail": ""}


def _not_numbers(result) -> str:
    """What in a result is not a finite number, although it should be."""
    import numpy as np

    for name, variable in result.items():
        found = {"mean": variable.mean, "var": variable.var} | ({"cov": variable.cov} if variable.has_cov else {})
        for what, estimate in found.items():
            if not np.isfinite(estimate.value).all() or np.isnan(estimate.error).any():
                return f"{what} of {name} by {estimate.method}"
        if (variable.var.value < 0).any():
            return f"negative var of {name}"
        kurtosis = variable.excess_kurtosis  # infinite where the fourth moment is
        if np.isnan(kurtosis.value).any():
            return f"excess_kurtosis of {name} by {kurtosis.method}"
    for expectation, estimate in result.expectations:
        if not np.isfinite(estimate.value).all():
            return f"expectation in line {expectation.span.line}"
    return ""


def _shown(result) -> None:
    """What a user would look at next: the report, the JSON object, a law and draws."""
    import numpy as np

    from netsor.cli.json_output import dump, result_object
    from netsor.cli.text.report import report

    report(result, 1.0, result.samples)
    json.loads(dump(result_object(result, 1.0, result.samples)))
    for name, variable in result.items():
        if math.prod(variable.shape):
            law = variable[(0,) * len(variable.shape)]
            assert 0 <= float(np.asarray(law.cdf(0.0))) <= 1, f"cdf of {name}"
    result.sample(3)


def _where(text: str) -> str:
    """The end of a traceback."""
    return "\n".join(text.strip().splitlines()[-14:])


def main() -> None:
    from netsor.limit import run  # noqa: F401 (not part of the first program's time)
    from netsor.cli.text import report  # noqa: F401
    from scipy import stats  # noqa: F401

    from netsor.compare import comparison, drawing  # noqa: F401
    from netsor.finite import effort
    from netsor.ir import labelled
    from netsor.language import state
    from netsor.limit import limits, work

    effort.LONGEST = EFFORT_SECONDS
    labelled.MEMORY_LIMIT, work.SECONDS_LIMIT = ARRAY_BYTES, EFFORT_SECONDS
    state.FAMILY_LIMIT = FAMILIES
    limits.Steps.IN_ONE, limits.Steps.IN_ALL = TERMS_IN_ONE, TERMS_IN_ALL
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def out_of_time(*_):
        raise OutOfTime

    signal.signal(signal.SIGPROF, out_of_time)
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(attempt(**asked)), file=answers, flush=True)


if __name__ == "__main__":
    main()
