"""netsor run: the infinite-width limit in numbers."""

from __future__ import annotations

import time
from contextlib import nullcontext

import click

from netsor.cli import options
from netsor.cli.archive import Archive
from netsor.cli.command import Command
from netsor.cli.progress import ProgressDisplay


@click.command(cls=Command, short_help="The infinite-width limit of a program, in numbers.")
@options.file_argument
@options.set_option
@options.data_option
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Only this output.  Repeatable.")
@options.samples_option
@options.seed_option
@options.json_option
@click.option("--out", metavar="FILE.npz", help="Write the arrays too: y.mean, y.cov, y.cov.error, …")
@options.plugin_option
def command(file, settings, data, outputs, samples, seed, as_json, out, plugins) -> None:
    """The infinite-width limit of the program in FILE (- for the standard input): the law of its scores and of its
    outputs, every number with its error and the method behind it.

    Ctrl-C while sampling shows what has been reached.
    """
    with Archive(out) if out else nullcontext() as archive:
        start = time.perf_counter()
        program = options.load(file, settings, data, plugins)
        wanted = _selected(program, outputs)
        if not as_json:
            options.warn(program.ir.warnings)
        if samples is not None:
            from netsor.cli.cost import refuse_if_too_large

            refuse_if_too_large(program.ir, samples, wanted)
        with ProgressDisplay() as progress:
            result = program.limit(samples=samples, seed=seed, outputs=wanted, progress=progress)
        seconds = time.perf_counter() - start
        if archive is not None:
            archive.write(result)
    if as_json:
        from netsor.cli.json_output import dump, result_object

        click.echo(dump(result_object(result, seconds, progress.total)))
        return
    from netsor.cli.text.report import report

    click.echo(report(result, seconds, progress.total))
    if archive is not None:
        click.echo(f"arrays written to {out}")


def _selected(program, outputs: tuple[str, ...]) -> list[str]:
    """The outputs asked for, all if none is named; NetsorError for a name that is no output."""
    from difflib import get_close_matches

    from netsor.language.diagnostics import Diagnostic, NetsorError

    problems = []
    for name in outputs:
        if name in program.outputs:
            continue
        near = get_close_matches(name, program.outputs, n=3)
        if any(family.name == name for family in program.ir.families):
            message, hint = f"`{name}` is not among the outputs of this program", f"add it there: output {name}"
        else:
            message = f"this program has no output `{name}`"
            hint = f"did you mean {' or '.join(near)}?" if near else f"its outputs are {', '.join(program.outputs)}"
        problems.append(Diagnostic("N220", message, hint=hint))
    if problems:
        raise NetsorError(problems)
    return [name for name in program.outputs if not outputs or name in outputs]
