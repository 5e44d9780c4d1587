"""Options for where runs are drawn, and usage errors for where they cannot be."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from netsor.finite.backends import BACKENDS, BackendError

_backend = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    help="Where runs are drawn: processes (loky) or threads of this machine, or the workers of a cluster.  By default processes, where "
    "they pay.  The numbers are the same.",
)
_scheduler = click.option(
    "--scheduler", metavar="ADDRESS", help="The cluster: tcp://HOST:8786 for dask, HOST:6379 or ray://HOST:10001 for ray."
)
workers_option = click.option(
    "--workers", type=click.IntRange(min=1), metavar="N",
    help="Processes or threads of this machine; by default one for each core that may be used.  The numbers are the same.",
)


def backend_options(command: Callable) -> Callable:
    """``--backend NAME``, ``--scheduler ADDRESS`` and ``--workers N``."""
    return _backend(_scheduler(workers_option(command)))


@contextmanager
def usage_errors() -> Iterator[None]:
    """A backend or cluster that is not there is a mistake of the command line.

    One sentence says so: what the cluster's own code logs about it, with tracebacks, is kept quiet."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    except BackendError as error:
        raise click.UsageError(str(error)) from error
    finally:
        logging.disable(before)
