"""Where a block is called: what is defined, or goes wrong, in its lines says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.language.source import Span
from netsor.language.state import State


@contextmanager
def inside_call(state: State, call: Span) -> Iterator[None]:
    """What is defined or goes wrong meanwhile belongs to this call, also mistakes that are kept for later."""
    before, state.call = state.call, call
    known = len(state.diagnostics)
    try:
        yield
    except NetsorError as error:
        error.diagnostics = [_placed(each, call) for each in error.diagnostics]
        raise
    finally:
        state.call = before
        state.diagnostics[known:] = [_placed(each, call) for each in state.diagnostics[known:]]


def _placed(diagnostic: Diagnostic, call: Span) -> Diagnostic:
    span = diagnostic.span
    if span is None or span.call is not None:
        return diagnostic
    return replace(diagnostic, span=span._replace(call=call))
