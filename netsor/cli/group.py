"""The list of commands; each is imported when it is wanted."""

from __future__ import annotations

import os
from importlib import import_module

import click

from netsor import __version__

COMMANDS = ("run", "check", "test", "derive", "simulate", "compare", "reproduce", "graph", "new", "fmt", "explain", "list")


class LazyGroup(click.Group):
    """A group whose commands are the attribute ``command`` of the files of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return import_module(f"netsor.cli.{name}").command if name in COMMANDS else None

    def resolve_command(self, ctx: click.Context, args: list[str]):
        from difflib import get_close_matches

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            if near:
                hint = f"did you mean {near[0]!r}?"
            elif args[0].endswith(".netsor"):
                hint = f"to read its limit: netsor run {args[0]}"
            else:
                hint = f"commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="netsor %(version)s")
@click.pass_context
def netsor(ctx: click.Context) -> None:
    """Tensor Programs: the infinite-width limits of random neural networks, from a description of the network."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
