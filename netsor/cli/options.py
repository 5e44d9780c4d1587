"""Options that several commands share, and the program that they name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from netsor.api import Program
    from netsor.language.diagnostics import Diagnostic
    from netsor.language.source import Source


def _pairs(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """("s=8", "H=inf") as a dictionary."""
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise click.BadParameter(f"{text!r} is not of the form {parameter.metavar}", ctx, parameter)
        if name in found:
            raise click.BadParameter(f"{name} is given twice", ctx, parameter)
        found[name] = value
    return found


file_argument = click.argument("file", metavar="FILE")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_pairs,
    help="Value of a param: a constant expression such as 8, 1/3, 2^10 or inf.  Repeatable.",
)
data_option = click.option(
    "--data",
    "data",
    multiple=True,
    metavar="NAME=FILE",
    callback=_pairs,
    help="Numbers of a data statement: .npy, .npz or .csv.  Repeatable.",
)
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE.py",
    help="Python file that defines nonlinearities or rules.  Repeatable.",
)
samples_option = click.option(
    "--samples",
    type=click.IntRange(min=1),
    metavar="N",
    help="Samples of the scores, in 16 independent randomisations (rounded up).  Without it: a second's worth, or where one sample is long some twenty seconds'.",
)
points_option = click.option(
    "--points",
    type=click.IntRange(min=1, max=2**30),
    metavar="N",
    help="Quasi-random points for each expectation in several variables without a better method, in each of 16 randomisations.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Reproduces every number."
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object, also for errors.")


def load(
    file: str | Source, settings: dict[str, str], data: dict[str, str], plugins: tuple[str, ...], free: bool = False
) -> Program:
    """The checked program in a file or a source; with ``free``, parameters that are not set stay symbols."""
    from netsor.api import Program
    from netsor.language import load_program
    from netsor.language.source import Source
    from netsor.plugins import load_plugins, rules

    load_plugins(list(plugins))
    return Program(
        load_program(file if isinstance(file, Source) else source(file), settings=settings, data=data, rules=rules(), free=free)
    )


def source(file: str) -> Source:
    """The text of a program file; ``-`` is the standard input."""
    from netsor.language.diagnostics import Diagnostic, NetsorError
    from netsor.language.parse import read
    from netsor.language.source import Source

    if file != "-":
        return read(file)
    content = sys.stdin.buffer.read()
    try:
        return Source(content.decode("utf-8"), "<stdin>")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetsorError(
            Diagnostic(
                "N115",
                f"the standard input is not text in UTF-8: byte {error.start + 1}, in line {line}, is "
                f"0x{content[error.start]:02x}",
            )
        ) from None


def warn(warnings: list[Diagnostic]) -> None:
    """Show a program's warnings on stderr."""
    from netsor.cli.failures import report

    if warnings:
        report(warnings)
        click.echo(err=True)
