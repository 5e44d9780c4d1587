"""The command ``netsor``: one file a command.  Only here are options read, files named and results printed.

Exit status: 0 all is well, 1 the program (or its data) is at fault, 2 the command line is, 130 interrupted with
nothing to show.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    import sys

    import click

    from netsor.cli.command import INTERRUPTED, interrupted
    from netsor.cli.group import netsor
    from netsor.cli.signals import ended_by_sigterm

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what cannot show a letter shows a question mark, not a traceback
            stream.reconfigure(errors="replace")
    try:
        with ended_by_sigterm():
            status = netsor.main(arguments, prog_name="netsor", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        interrupted()
        return INTERRUPTED
    return status or 0
