"""netsor fmt: programs in one style."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from netsor.cli import options
from netsor.cli.command import Command
from netsor.cli.program_files import program_files

if TYPE_CHECKING:
    from netsor.language.source import Source


@click.command(cls=Command, short_help="Programs in one style: spaces, indentation, comments.")
@click.argument("files", metavar="FILE|DIR...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.pass_context
def command(ctx, files, check, diff) -> None:
    """Format programs, and all *.netsor files in directories; - formats the standard input to the standard output.

    Only the layout changes: a file is written if its meaning and its comments are found unchanged, else left alone.
    """
    from netsor.cli.failures import diagnostics_of, report

    if "-" in files and len(files) > 1:
        raise click.UsageError("- is formatted alone: its text goes to the standard output")
    changed = unchanged = broken = 0
    for file in program_files(files):
        try:
            source = options.source(file)
            text = _formatted(source)
            changes = text.encode("utf-8") != _written(file, source)
            if file == "-" and not (check or diff):
                click.echo(text, nl=False)
            elif changes:
                _show_or_write(source, text, check, diff)
        except Exception as error:  # what is wrong with one file does not keep others from being formatted
            if ctx.meta.get("netsor.debug"):
                raise
            broken += 1
            report(diagnostics_of(error))
            continue
        changed, unchanged = changed + changes, unchanged + (not changes)
    if files != ("-",):
        click.echo(_summary(changed, unchanged, broken, check or diff), err=True)
    ctx.exit(1 if broken or check and changed else 0)


def _formatted(source: Source) -> str:
    from netsor.language.format import format_source

    return format_source(source)


def _written(file: str, source: Source) -> bytes:
    """What is in the file: a byte order mark at its beginning is no part of the text."""
    return source.text.encode("utf-8") if source.path is None else source.path.read_bytes()


def _show_or_write(source: Source, text: str, check: bool, diff: bool) -> None:
    if diff:
        _show_difference(source, text)
    elif not check:
        from netsor.cli.output_file import replace_file

        replace_file(source.path, text.encode("utf-8"))
    if not diff:
        click.echo(f"{'would change' if check else 'formatted'}  {source.name}")


def _show_difference(source: Source, text: str) -> None:
    from difflib import unified_diff

    before, after = (each.splitlines() for each in (source.text.replace("\r\n", "\n"), text))
    for line in unified_diff(before, after, source.name, f"{source.name} (formatted)", lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo(click.style(line, fg=colour) if colour else line)


def _summary(changed: int, unchanged: int, broken: int, dry: bool) -> str:
    from netsor.cli.text.numbers import count

    parts = [f"{count(changed, 'file')} {'would change' if dry else 'formatted'}"] if changed else []
    parts += [f"{count(unchanged, 'file')} unchanged"] if unchanged else []
    parts += [f"{count(broken, 'file')} with errors"] if broken else []
    return ", ".join(parts)
