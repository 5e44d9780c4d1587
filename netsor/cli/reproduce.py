"""netsor reproduce: published experiments, from the programs that come with netsor."""

from __future__ import annotations

import time
from pathlib import Path

import click

from netsor.cli import options
from netsor.cli.command import Command
from netsor.cli.progress import ProgressDisplay


@click.command(cls=Command, short_help="The figures of a paper, from the programs that come with netsor.")
@click.argument("experiment", type=click.Choice(["attention-paper"]), metavar="EXPERIMENT")
@click.option("--quick", is_flag=True, help="Few runs: the same figures with more noise, in half a minute.")
@click.option("--figure", "figures", multiple=True, type=click.Choice(["1", "2", "3", "5", "8-tokens"]), help="Only this one.  Repeatable.")
@click.option("--runs", type=click.IntRange(min=16), metavar="N", help="Runs for each seed, instead of the paper's number.")
@click.option("--out", default=".", metavar="DIR", help="Where figure_1.png, … are written (made if it does not exist; . by default).")
@options.seed_option
def command(experiment, quick, figures, runs, out, seed) -> None:
    """Regenerate the numerical experiments of EXPERIMENT: attention-paper is Sakai, Karakida & Imaizumi 2025
    (arXiv:2506.00846).  Every figure is written as soon as it is done, with the numbers behind it printed.
    """
    from netsor.cli.list import programs_folder
    from netsor.cli.text.table import table
    from netsor.plot import save
    from netsor.reproduce.attention_paper import FIGURES, attention_paper
    from netsor.reproduce.figures import paper_figure
    from netsor.reproduce.numbers import COLUMNS, rows

    folder = programs_folder()
    if folder is None or not (folder / "paper").is_dir():
        raise click.ClickException("the programs of the paper did not come with this installation")
    target = writable(out)
    start = time.perf_counter()
    with ProgressDisplay() as progress:
        for data in attention_paper(
                folder / "paper", figures=figures or FIGURES, seed=seed, runs=runs, quick=quick, progress=progress):
            path = target / f"figure_{data.experiment.figure}.png"
            save(paper_figure(data), path)
            own = data.experiment
            click.echo(click.style(f"{path}: {own.title}, {own.seeds} x {own.runs:,} runs", bold=True))
            click.echo("\n".join(f"    {line}".rstrip() for line in table(list(COLUMNS), list(rows(data)))))
            click.echo()
    click.echo(f"KDE columns: mean ± standard deviation over seeds; the others: standard errors\nseed {seed}, {time.perf_counter() - start:.0f} s")


def writable(out: str) -> Path:
    """The folder, made if need be; a usage error where that fails."""
    target = Path(out)
    try:
        target.mkdir(parents=True, exist_ok=True)
        probe = target / ".netsor-writes-here"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise click.BadParameter(f"{out!r} cannot be written to: {error.strerror}", param_hint="'--out'") from None
    return target
