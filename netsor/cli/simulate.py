"""netsor simulate: draws of the network at one finite width."""

from __future__ import annotations

import time
from contextlib import nullcontext

import click

from netsor.cli import options
from netsor.cli.archive import Archive
from netsor.cli.backends import backend_options, usage_errors
from netsor.cli.command import Command
from netsor.cli.figure_file import FigureFile, plot_option
from netsor.cli.progress import ProgressDisplay
from netsor.language.selection import selected
from netsor.cli.widths import coordinates_option, runs_option


@click.command(cls=Command, short_help="The network at one finite width, in numbers.")
@options.file_argument
@click.option("--width", type=click.IntRange(min=1), default=256, show_default=True, metavar="N", help="The width.")
@runs_option
@coordinates_option
@options.set_option
@options.data_option
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Only this output.  Repeatable.")
@options.seed_option
@backend_options
@click.option("--out", metavar="FILE.npz", help="Write the draws too: one array for each output, runs along the first axis.")
@options.json_option
@plot_option
@options.plugin_option
def command(file, width, runs, coordinates, settings, data, outputs, seed, backend, scheduler, workers, out, as_json,
            plot, plugins) -> None:
    """Draw the program in FILE (- for the standard input) at a finite width, exact in law, and estimate what ``run``
    reports: every number with the standard error of independent runs.
    """
    from netsor.compare import simulate

    with Archive(out) if out else nullcontext() as archive, FigureFile(plot) if plot else nullcontext() as figure:
        start = time.perf_counter()
        program = options.load(file, settings, data, plugins)
        wanted = selected(program.ir, outputs)
        if not as_json:
            options.warn(program.ir.warnings)
        with usage_errors(), ProgressDisplay() as progress:
            simulation = simulate(
                program, width, runs, seed, coordinates, progress, outputs=wanted, backend=backend, scheduler=scheduler,
                workers=workers)
        seconds = time.perf_counter() - start
        if archive is not None:
            archive.write_arrays({name: own.draws for name, own in simulation.items()})
        if figure is not None:
            figure.write(simulation)
    if as_json:
        from netsor import __version__
        from netsor.cli.json_output import dump

        click.echo(dump({"netsor": __version__, **simulation.as_dict(), "seconds": round(seconds, 3)}))
        return
    from netsor.cli.text.simulation import describe

    click.echo("\n".join(describe(simulation, seconds)))
    if archive is not None:
        click.echo(f"draws written to {out}")
    if figure is not None:
        click.echo(f"figure written to {plot}")
