"""What every command has in common: failures become messages and exit statuses, never a traceback."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell reports for a program that wrote to a closed pipe


class Command(click.Command):
    """A command with ``--debug``; a parameter ``as_json`` says that errors are wanted as JSON."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.params.append(
            click.Option(
                ["--debug"],
                is_flag=True,
                expose_value=False,
                envvar="NETSOR_DEBUG",
                callback=_remember_debug,
                help="Show Python's traceback where netsor itself fails (also: NETSOR_DEBUG=1).",
            )
        )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _close_quietly()
            ctx.exit(CLOSED_PIPE)
        except KeyboardInterrupt:
            interrupted()
            ctx.exit(INTERRUPTED)
        except Exception as error:
            from netsor.cli.failures import diagnostics_of, report

            if ctx.meta.get("netsor.debug"):
                import traceback

                traceback.print_exc()
            as_json = bool(ctx.params.get("as_json"))
            diagnostics = diagnostics_of(error)
            report(diagnostics, as_json=as_json)
            if not as_json:
                click.echo(f"\nwhat this means: netsor explain {diagnostics[0].code}", err=True)
            ctx.exit(1)


def interrupted() -> None:
    """The sentence for a run that was stopped before there was anything to show."""
    click.echo("interrupted before there was a result", err=True)


def _remember_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta["netsor.debug"] = value


def _close_quietly() -> None:
    """Whoever read our output is gone: let nothing more be written there, not even at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")
