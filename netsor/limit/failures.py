"""What can stop a limit on its way, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from netsor.expectation.estimate import NotResolved
from netsor.expectation.linear_algebra import NotSemidefinite
from netsor.ir.labelled import TooLarge
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.limit.limits import TooMuchWork
from netsor.limit.numbers import Undefined
from netsor.limit.rounding import NotACovariance


@contextmanager
def as_diagnostics() -> Iterator[None]:
    """A context in which what stops a computation becomes a NetsorError."""
    try:
        yield
    except (TooLarge, MemoryError) as error:
        needed = f": {error}" if str(error) else ""
        raise NetsorError(Diagnostic(
            "N521", f"this limit takes more memory than there is{needed}",
            hint="ask for fewer samples, or for some of the outputs only")) from error
    except TooMuchWork as error:
        raise NetsorError(Diagnostic("N522", str(error), hint=error.hint)) from error
    except Undefined as error:
        family = error.families[0] if error.families else None
        name = f" of {family.label}" if family is not None and not family.hidden else ""
        raise NetsorError(Diagnostic(
            "N407", f"a moment{name} does not exist in the limit: {error}", family.span if family else None)) from error
    except (NotSemidefinite, NotACovariance, NotResolved) as error:
        raise NetsorError(Diagnostic(
            "N514", f"the limit cannot be computed accurately enough: {error}",
            hint="more samples, or quasi-random points (--points), reduce the noise; values of very different sizes lose their digits, so rescale them")) from error
    except OverflowError as error:
        raise NetsorError(Diagnostic("N501", f"a number leaves the range of floating-point numbers: {error}")) from error
    except RecursionError as error:
        raise NetsorError(Diagnostic(
            "N113", "a formula of this limit is nested too deeply",
            hint="hundreds of coordinatewise definitions in a chain make one formula; a matrix or an average between ends it"),
        ) from error
