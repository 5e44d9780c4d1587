"""netsor run: the infinite-width limit in numbers."""

from __future__ import annotations

import time
from contextlib import nullcontext

import click

from netsor.cli import options
from netsor.cli.archive import Archive
from netsor.cli.command import Command
from netsor.cli.figure_file import FigureFile, plot_option
from netsor.cli.progress import ProgressDisplay
from netsor.language.selection import selected


@click.command(cls=Command, short_help="The infinite-width limit of a program, in numbers.")
@options.file_argument
@options.set_option
@options.data_option
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Only this output.  Repeatable.")
@options.samples_option
@options.points_option
@options.seed_option
@options.json_option
@click.option("--out", metavar="FILE.npz", help="Write the arrays too: y.mean, y.cov, y.cov.error, …")
@plot_option
@options.plugin_option
def command(file, settings, data, outputs, samples, points, seed, as_json, out, plot, plugins) -> None:
    """The infinite-width limit of the program in FILE (- for the standard input): the law of its scores and of its
    outputs, every number with its error and the method behind it.

    Ctrl-C while sampling shows what has been reached.
    """
    with Archive(out) if out else nullcontext() as archive, FigureFile(plot) if plot else nullcontext() as figure:
        start = time.perf_counter()
        program = options.load(file, settings, data, plugins)
        wanted = selected(program.ir, outputs)
        if not as_json:
            options.warn(program.ir.warnings)
        if samples is not None:
            from netsor.cli.cost import refuse_if_too_large

            refuse_if_too_large(program.ir, samples, wanted)
        with ProgressDisplay() as progress:
            result = program.limit(samples=samples, points=points, seed=seed, outputs=wanted, progress=progress)
        seconds = time.perf_counter() - start
        if archive is not None:
            archive.write(result)
        if figure is not None:
            figure.write(result)
    if as_json:
        from netsor.cli.json_output import dump, result_object

        click.echo(dump(result_object(result, seconds, progress.total)))
        return
    from netsor.cli.text.report import report

    click.echo(report(result, seconds, progress.total))
    if archive is not None:
        click.echo(f"arrays written to {out}")
    if figure is not None:
        click.echo(f"figure written to {plot}")
