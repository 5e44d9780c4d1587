"""Threads for array work, which numpy does outside of the interpreter's lock, and how they are called off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from netsor.expectation.machine import usable_cores

THREADS = min(2, usable_cores())  # threads inside of threads are many already
_own = threading.local()


class Halted(BaseException):
    """Raised in a thread whose work nobody waits for any more."""


@contextmanager
def thread_pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that end at their next :func:`halt_point` when the block is left by an exception (Ctrl-C among them)."""
    halt = threading.Event()
    halts = (*getattr(_own, "halts", ()), halt)  # those of a thread that starts threads end with it
    with ThreadPoolExecutor(workers, initializer=setattr, initargs=(_own, "halts", halts)) as pool:
        try:
            yield pool
        except BaseException:
            halt.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def halt_point() -> None:
    """To be called once in a while by what takes long."""
    if any(halt.is_set() for halt in getattr(_own, "halts", ())):
        raise Halted


def in_threads(function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """[function(argument) for argument in arguments], in order."""
    arguments = list(arguments)
    if THREADS == 1 or len(arguments) < 2:
        return [function(argument) for argument in arguments]
    with thread_pool(THREADS) as pool:
        return list(pool.map(function, arguments))


# OpenBLAS starts threads of its own above 2^18 multiplications; on top of ours they cost a factor of twenty.
_BLAS_SERIAL = 2**17


def serial_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b.T for short, long matrices, in pieces that the linear algebra library does not split among threads."""
    step = max(1, _BLAS_SERIAL // (len(a) * len(b)))
    total = np.zeros((len(a), len(b)))
    for start in range(0, a.shape[1], step):
        total += a[:, start : start + step] @ b[:, start : start + step].T
    return total
