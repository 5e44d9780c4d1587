"""Ctrl-C and SIGTERM may go to a whole process group: they are for the process that waits, which ends its workers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_interrupts() -> Iterator[None]:
    """A context whose processes and threads never see SIGINT and SIGTERM, from their first instruction on: they inherit the mask of the
    thread that starts them.  A worker that died in the middle of its answer would be waited for.  Signals to this thread are held
    back until the end of the context."""
    if not hasattr(signal, "pthread_sigmask"):  # not a Unix
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
