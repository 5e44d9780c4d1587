"""netsor list: what there is to run and to call."""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path

import click

from netsor.cli.command import Command

_DOCSTRING = re.compile(r'\A\ufeff?(?:\s|#[^\n]*\n)*"""(.*?)"""', re.DOTALL)


@click.command(cls=Command, short_help="The programs, blocks and nonlinearities that come with netsor.")
def command() -> None:
    """The programs that come with netsor, the blocks and the nonlinearities that programs may call, one a line."""
    from netsor.cli.text.table import table

    folder = programs_folder()
    if folder is not None:
        programs = sorted(folder.rglob("*.netsor"))
        click.echo(click.style(f"programs in {_shown(folder)}", bold=True))
        for line in table(["", ""], [[str(path.relative_to(folder)), first_line(path)] for path in programs])[1:]:
            click.echo(f"    {line}".rstrip())
        click.echo()
    click.echo(click.style("blocks", bold=True))
    for line in table(["", ""], [[f"import std.{name}", call] for name, call in blocks()])[1:]:
        click.echo(f"    {line}".rstrip())
    click.echo()
    click.echo(click.style("nonlinearities", bold=True))
    for line in table(["", ""], [[call, words] for call, words in nonlinearities()])[1:]:
        click.echo(f"    {line}".rstrip())


def programs_folder() -> Path | None:
    """Where the programs are: in the package if it is installed, beside it in a checkout."""
    package = Path(str(resources.files("netsor")))
    return next((folder for folder in (package / "programs", package.parent / "programs") if folder.is_dir()), None)


def first_line(path: Path) -> str:
    """The first line of a program's docstring, or nothing."""
    found = _DOCSTRING.match(path.read_text(encoding="utf-8", errors="replace"))
    return next((line.strip() for line in found[1].splitlines() if line.strip()), "") if found else ""


def blocks() -> list[tuple[str, str]]:
    """The file of the library and how each of its blocks is called."""
    from netsor.language.imports import library, library_source
    from netsor.language.parse import parse
    from netsor.language.syntax import Block

    found = []
    for name in library():
        declared = [each for each in parse(library_source(name)).statements if isinstance(each, Block)]
        found += [(name, f"{each.name.name}({', '.join(formal.span.text for formal in each.formals)})") for each in declared]
    return found


def nonlinearities() -> list[tuple[str, str]]:
    """How each is called, and what it is, in one line."""
    from netsor.nonlinearities import get, names

    found = []
    for name in names():
        declared = get(name)
        parameters = "".join(
            f", {p}" + ("" if default is None else f"={default:g}") for p, default in declared.parameters
        )
        described = (type(declared).__doc__ or declared.citation).strip().splitlines()[0]
        found.append((f"{name}(x{parameters})", described.rstrip(".")))
    return found


def _shown(folder: Path) -> str:
    relative = os.path.relpath(folder)
    return str(folder) if relative.startswith(os.pardir) else relative
