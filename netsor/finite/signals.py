"""Ctrl-C goes to a whole process group: it is for the process that waits, not for its workers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_interrupts() -> Iterator[None]:
    """A context whose processes and threads never see SIGINT, from their first instruction on: they inherit the mask of the thread that
    starts them.  An interrupt of this thread is held back until the end of the context."""
    if not hasattr(signal, "pthread_sigmask"):  # not a Unix
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
