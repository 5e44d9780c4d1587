"""Options of the commands that draw at finite width."""

from __future__ import annotations

import click

from netsor.compare.defaults import LEAST_RUNS, RUNS, WIDTHS


def _widths(ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    """ "16,64" as numbers, in increasing order; none if nothing is said."""
    if text is None:
        return ()
    words = [word.strip().replace("_", "") for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= 10**9 for word in words):
        raise click.BadParameter(f"{text!r} is not a list of widths like 16,64,256", ctx, parameter)
    return tuple(sorted(set(map(int, words))))


def _several(ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    widths = _widths(ctx, parameter, text)
    if len(widths) == 1:
        raise click.BadParameter("two widths at least, or no bias can be removed", ctx, parameter)
    return widths


widths_option = click.option(
    "--width",
    "widths",
    default=",".join(map(str, WIDTHS)),
    show_default=True,
    metavar="N,N,...",
    callback=_widths,
    help="Widths; the O(1/n) bias is fitted over them.",
)
further_widths_option = click.option(
    "--width",
    "widths",
    metavar="N,N,...",
    callback=_several,
    help="Also at these finite widths, the O(1/n) bias removed.",
)
runs_option = click.option(
    "--runs",
    type=click.IntRange(min=LEAST_RUNS),
    default=RUNS,
    show_default=True,
    metavar="N",
    help="Independent draws of the whole network at each width.",
)
coordinates_option = click.option(
    "--coordinates",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Coordinates of vectors that are drawn in each run.",
)
