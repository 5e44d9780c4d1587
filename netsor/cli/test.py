import click

from netsor.cli.command import Command


@click.command(cls=Command)
def command() -> None:
    """To come."""
