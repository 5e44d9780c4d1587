"""Whatever was computed, as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsor.plot.files import file_format, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_of(result: Any, **options: Any) -> Figure:
    """The figure of a limit, a simulation or a comparison; options are those of the function for its kind."""
    from netsor.compare.result import Comparison
    from netsor.compare.simulation import Simulation
    from netsor.limit.result import LimitResult

    if isinstance(result, LimitResult):
        from netsor.plot.limit import limit_figure as draw
    elif isinstance(result, Simulation):
        from netsor.plot.simulation import simulation_figure as draw
    elif isinstance(result, Comparison):
        from netsor.plot.comparison import comparison_figure as draw
    else:
        raise TypeError(f"there is no figure of a {type(result).__name__}")
    return draw(result, **options)


def plotted(result: Any, file: str | Path | None = None, **options: Any) -> Figure:
    """The figure of a result, written to ``file`` too if one is named; options as for :func:`figure_of`.

    :raises ValueError: for a name that ends in none of FORMATS, before anything is drawn."""
    if file is not None:
        file_format(file)
    figure = figure_of(result, **options)
    if file is not None:
        save(figure, file)
    return figure
