"""Two threads for array work: numpy releases the interpreter lock inside its loops."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

THREADS = min(2, os.cpu_count() or 1)


def in_threads(function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """[function(argument) for argument in arguments], in order."""
    arguments = list(arguments)
    if THREADS == 1 or len(arguments) < 2:
        return [function(argument) for argument in arguments]
    with ThreadPoolExecutor(THREADS) as pool:
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
