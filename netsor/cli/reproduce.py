"""netsor reproduce: published experiments, from the programs that come with netsor."""

from __future__ import annotations

import time
from pathlib import Path

import click

from netsor.cli import options
from netsor.cli.backends import workers_option
from netsor.cli.command import INTERRUPTED, Command
from netsor.cli.progress import ProgressDisplay


@click.command(cls=Command, short_help="The figures of a paper, from the programs that come with netsor.")
@click.argument("experiment", type=click.Choice(["attention-paper"]), metavar="EXPERIMENT")
@click.option("--quick", is_flag=True, help="Few runs: the same figures with more noise, in half a minute.")
@click.option("--figure", "figures", multiple=True, type=click.Choice(["1", "2", "3", "5", "8-tokens"]), help="Only this one.  Repeatable.")
@click.option("--runs", type=click.IntRange(min=16), metavar="N", help="Runs for each seed, instead of the paper's number.")
@click.option("--out", default=".", metavar="DIR", help="Where figure_1.png, … are written (made if it does not exist; . by default).")
@options.seed_option
@workers_option
@click.pass_context
def command(ctx, experiment, quick, figures, runs, out, seed, workers) -> None:
    """Regenerate the numerical experiments of EXPERIMENT: attention-paper is Sakai, Karakida & Imaizumi 2025
    (arXiv:2506.00846).  Every figure is written as soon as it is done, with the numbers behind it printed.
    Ctrl-C keeps the figures that are done.
    """
    from netsor.cli.list import programs_folder
    from netsor.cli.text.table import table
    from netsor.finite.backends import drawing_on
    from netsor.plot import save
    from netsor.reproduce.attention_paper import FIGURES, attention_paper
    from netsor.reproduce.figures import paper_figure
    from netsor.reproduce.numbers import COLUMNS, rows

    folder = programs_folder()
    if folder is None or not (folder / "paper").is_dir():
        raise click.ClickException("the programs of the paper did not come with this installation")
    target = writable(out)
    start = time.perf_counter()
    done, interrupted = [], False
    with drawing_on(None, workers=workers), ProgressDisplay() as progress:
        try:
            for data in attention_paper(
                    folder / "paper", figures=figures or FIGURES, seed=seed, runs=runs, quick=quick, progress=progress):
                path = target / f"figure_{data.experiment.figure}.png"
                save(paper_figure(data), path)
                own = data.experiment
                click.echo(click.style(f"{path}: {own.title}, {own.seeds} x {own.runs:,} runs", bold=True))
                click.echo("\n".join(f"    {line}".rstrip() for line in table(list(COLUMNS), list(rows(data)))))
                click.echo()
                done.append(own.figure)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        click.echo(how_far(progress.done, progress.total, done), err=not done)
    if done:
        click.echo(f"KDE columns: mean ± standard deviation over seeds; the others: standard errors\nseed {seed}, {time.perf_counter() - start:.0f} s")
    ctx.exit(INTERRUPTED if interrupted and not done else 0)


def how_far(runs: int, wanted: int, figures: list[str]) -> str:
    """What an interruption left: "interrupted: 40,000 of 170,000 runs; figure 1 is done"."""
    done = f"figure {figures[0]} is done" if len(figures) == 1 else f"figures {', '.join(figures)} are done" if figures else "no figure is done"
    amount = f"{runs:,} of {wanted:,} runs" if wanted else "before anything was drawn"
    return f"interrupted: {amount}; {done}"


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
