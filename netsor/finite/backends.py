"""Where runs are drawn: in processes or threads of this machine, or by the workers of a Dask or Ray cluster.

joblib does the distribution; what is added here is the connection, and a sentence for everything that can be wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral

CLUSTERS = ("dask", "ray")
BACKENDS = ("loky", "threading", *CLUSTERS)

_cluster: ContextVar[str | None] = ContextVar("cluster", default=None)
_workers: ContextVar[int | None] = ContextVar("workers", default=None)


class BackendError(ValueError):
    """The backend does not exist, is not installed, or its cluster is not there; the message ends with what to do."""


def current_cluster() -> str | None:
    """The cluster that draws in this context: "dask", "ray", or None for this machine."""
    return _cluster.get()


def current_workers() -> int:
    """How many processes or threads of this machine draw in this context: as many as there are usable cores if nothing is said."""
    from netsor.expectation.machine import usable_cores  # not with the command line's options: it brings numpy

    return _workers.get() or usable_cores()


@contextmanager
def drawing_on(backend: str | None, scheduler: str | None = None, workers: int | None = None) -> Iterator[None]:
    """A context in which runs are drawn by ``backend``; None leaves it as it is.

    :param backend: ``loky`` (processes), ``threading``, ``dask``, ``ray``, or what is registered with joblib.
    :param scheduler: the address of a cluster.  Without it ``dask`` takes the client that there is in Python, or the address in
        Dask's configuration, and ``ray`` what ``ray.init()`` finds.
    :param workers: how many processes or threads of this machine; None leaves it as it is.  A cluster has its own number.
    :raises BackendError: if there is no such backend, or no cluster to draw on.
    :raises ValueError: for a number of workers that is no positive integer."""
    if workers is not None and not (isinstance(workers, Integral) and workers >= 1):
        raise ValueError("workers is a positive integer")
    token = _workers.set(_workers.get() if workers is None else int(workers))
    try:
        with _on(backend, scheduler):
            yield
    finally:
        _workers.reset(token)


@contextmanager
def _on(backend: str | None, scheduler: str | None) -> Iterator[None]:
    if backend is None:
        if scheduler is not None:
            raise BackendError(f"a scheduler ({scheduler}) belongs to a cluster: choose the backend dask or ray with it")
        yield
        return
    if backend not in CLUSTERS:
        with _on_this_machine(backend, scheduler):
            yield
        return
    if backend == "dask":
        from netsor.finite.dask_cluster import connected
    else:
        from netsor.finite.ray_cluster import connected
    with connected(scheduler):
        token = _cluster.set(backend)
        try:
            yield
        finally:
            _cluster.reset(token)


@contextmanager
def _on_this_machine(backend: str, scheduler: str | None) -> Iterator[None]:
    from joblib import parallel, parallel_config

    if scheduler is not None:
        raise BackendError(f"{backend} runs on this machine and has no scheduler: choose the backend dask or ray with {scheduler}")
    if backend not in parallel.BACKENDS:
        raise BackendError(f"there is no backend {backend!r}: choose {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}")
    token = _cluster.set(None)
    try:
        with parallel_config(backend=backend):
            yield
    finally:
        _cluster.reset(token)


def missing(package: str, extra: str) -> BackendError:
    """What to say where an optional package is not installed."""
    return BackendError(f"the backend {extra} needs {package}, which is not installed: pip install 'netsor[{extra}]'")


def one_line(error: BaseException) -> str:
    """An exception as a short sentence."""
    text = " ".join(str(error).split())
    text = text if len(text) <= 200 else text[:199] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
