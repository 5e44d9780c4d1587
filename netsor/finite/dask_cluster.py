"""The workers of a Dask cluster, found and checked before anything is drawn."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from netsor.finite.backends import BackendError, missing, one_line

CONNECTION_SECONDS = 5.0
"""How long a scheduler may take to answer."""
WORKERS_SECONDS = 10.0
"""How long the first worker may take to appear."""
NUMERICAL = ("netsor", "numpy", "scipy")
"""Packages whose versions the numbers depend on."""


@contextmanager
def connected(scheduler: str | None) -> Iterator[None]:
    """A context in which joblib runs on the cluster with this address; :func:`netsor.finite.backends.drawing_on` says on which if None."""
    try:
        import dask
        from distributed import Client, get_client
    except ImportError:
        raise missing("dask.distributed", "dask") from None
    if scheduler is None:
        try:
            client = get_client()  # the caller's own, who closes it
        except ValueError:
            scheduler = dask.config.get("scheduler-address", None)
            if scheduler is None:
                raise BackendError(
                    "the backend dask needs a cluster: start one with `dask scheduler` and `dask worker ADDRESS`, and name the "
                    "address of its scheduler, such as tcp://HOST:8786") from None
        else:
            with _through(client):
                yield
            return
    _check_scheduler(scheduler)
    with Client(scheduler, timeout=CONNECTION_SECONDS, set_as_default=False) as client:
        with _through(client):
            yield


@contextmanager
def _through(client) -> Iterator[None]:
    """joblib runs on the cluster of this client."""
    from joblib import parallel_config
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):
        """Where joblib counts one worker it works in this process; a cluster of one draws too, and may grow."""

        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(super().effective_n_jobs(n_jobs), 2)

    _check_workers(client)
    with parallel_config(backend=Backend(client=client)):
        yield


def _check_scheduler(address: str) -> None:
    """Ask who is there, before a client is made: one that cannot connect tries on in the background."""
    from distributed import Security, rpc

    async def identity() -> dict:
        async with rpc(address, timeout=CONNECTION_SECONDS, connection_args=Security().get_connection_args("client")) as peer:
            return await peer.identity()

    try:
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop that runs, as in a notebook
            found = thread.submit(asyncio.run, asyncio.wait_for(identity(), CONNECTION_SECONDS)).result()
        kind = found["type"]
    except Exception as error:  # what answers may be anything, and fail in any way
        reason = f"nothing within {CONNECTION_SECONDS:g} s" if isinstance(error, (OSError, TimeoutError)) else one_line(error)
        raise BackendError(
            f"no Dask scheduler answers at {address} ({reason}): check the address, such as tcp://HOST:8786, and that "
            "`dask scheduler` runs there") from None
    if kind != "Scheduler":
        raise BackendError(f"at {address} is a {kind} of Dask: give the address of its scheduler")


def _check_workers(client) -> None:
    """There is a worker, and workers have the same versions of what the numbers depend on."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError:
        raise BackendError(f"the cluster at {address} has no workers: start some with `dask worker {address}`") from None
    here = versions()
    try:
        found = client.run(versions)
    except Exception as error:  # what unpickling on another machine raises
        raise BackendError(
            f"the workers of {address} cannot load netsor ({one_line(error)}): install it on each of them") from None
    for worker, there in found.items():
        for package in NUMERICAL:
            if there[package] != here[package]:
                raise BackendError(
                    f"the worker {worker} has {package} {there[package]}, and here it is {here[package]}: install the same version, "
                    "or the same seed would not give the same numbers")


def versions() -> dict[str, str]:
    """The versions of the packages that the numbers depend on."""
    import netsor

    return {name: netsor.__version__ if name == "netsor" else importlib.metadata.version(name) for name in NUMERICAL}
