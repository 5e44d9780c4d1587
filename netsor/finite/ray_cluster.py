"""A Ray cluster, through the backend that Ray registers with joblib."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from netsor.finite.backends import BackendError, missing, one_line

CONNECTION_SECONDS = 5.0


@contextmanager
def connected(scheduler: str | None) -> Iterator[None]:
    """A context in which joblib runs on the cluster with this address; on what ``ray.init()`` finds or starts if None."""
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise missing("ray", "ray") from None
    from joblib import parallel_config

    own = not ray.is_initialized()
    if own:
        if scheduler is not None:
            _check_address(scheduler)
        try:
            ray.init(address=scheduler, logging_level="ERROR", log_to_driver=False)
        except Exception as error:
            raise _unreachable(scheduler, one_line(error)) from None
    try:
        register_ray()
        with parallel_config(backend="ray"):
            yield
    finally:
        if own:
            ray.shutdown()


def _check_address(address: str) -> None:
    """Ray tries for minutes to reach what is not there: knock first.  Addresses without a port are Ray's own words ("auto")."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTION_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _unreachable(address, one_line(error)) from None


def _unreachable(address: str | None, reason: str) -> BackendError:
    place = "" if address is None else f" at {address}"
    return BackendError(
        f"no Ray cluster answers{place} ({reason}): check the address, such as HOST:6379 or ray://HOST:10001, and that "
        "`ray start --head` runs there")
