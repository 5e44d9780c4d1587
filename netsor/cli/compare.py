"""netsor compare: does the network at finite width tend to the limit?"""

from __future__ import annotations

import time
from contextlib import nullcontext

import click

from netsor.cli import options
from netsor.cli.backends import backend_options, usage_errors
from netsor.cli.command import Command
from netsor.cli.figure_file import FigureFile, plot_option
from netsor.cli.progress import ProgressDisplay
from netsor.language.selection import selected
from netsor.cli.widths import coordinates_option, runs_option, widths_option


@click.command(cls=Command, short_help="The limit against the network at finite width.")
@options.file_argument
@widths_option
@runs_option
@coordinates_option
@click.option("--controls", is_flag=True, help="Also judge laws that are wrong on purpose: they must be rejected.")
@click.option("--kde", "kernel_densities", is_flag=True, help="Also the divergence of kernel density estimates, for figures.")
@options.set_option
@options.data_option
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Only this output.  Repeatable.")
@options.samples_option
@options.points_option
@options.seed_option
@backend_options
@options.json_option
@plot_option
@options.plugin_option
@click.pass_context
def command(ctx, file, widths, runs, coordinates, controls, kernel_densities, settings, data, outputs, samples, points, seed,
            backend, scheduler, workers, as_json, plot, plugins) -> None:
    """Compare the infinite-width limit of the program in FILE (- for the standard input) with draws at finite widths:
    moments, covariances, characteristic functions and distribution functions, extrapolated to infinite width.

    \b
    agrees      no difference beyond noise
    bias        differs at this width by the O(1/n) bias that the fit predicts
    disagrees   the extrapolation to infinite width differs from the limit
    unresolved  differs, and these widths cannot tell bias from disagreement

    A limit that is right is called wrong in 1 of 10,000 comparisons, however many numbers are compared.  The exit status
    is 1 if the verdict is not that they agree, or a control was not rejected that had to be.  Ctrl-C judges the widths
    that are done.
    """
    from netsor.compare import compare

    with FigureFile(plot) if plot else nullcontext() as figure:
        start = time.perf_counter()
        program = options.load(file, settings, data, plugins)
        wanted = selected(program.ir, outputs)
        if not as_json:
            options.warn(program.ir.warnings)
        if samples is not None:
            from netsor.cli.cost import refuse_if_too_large

            refuse_if_too_large(program.ir, samples, wanted)
        with usage_errors(), ProgressDisplay() as progress:
            comparison = compare(
                program, widths, runs, seed, samples, controls, coordinates, progress, outputs=wanted,
                kernel_densities=kernel_densities, points=points, backend=backend, scheduler=scheduler,
                workers=workers)
        if figure is not None:
            figure.write(comparison)
    seconds = time.perf_counter() - start
    if as_json:
        from netsor import __version__
        from netsor.cli.json_output import dump

        click.echo(dump({"netsor": __version__, **comparison.as_dict(), "seconds": round(seconds, 3)}))
    else:
        from netsor.cli.text.comparison import describe

        click.echo("\n".join(describe(comparison, program.ir, widths, seconds)))
        if figure is not None:
            click.echo(f"figure written to {plot}")
    ctx.exit(0 if comparison.verdict == "agrees" and all(control.passed for control in comparison.controls) else 1)
