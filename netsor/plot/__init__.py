"""Figures: one idea a file.  Matplotlib is imported when something is drawn, and without its global state.

:func:`figure_of` draws whatever a command or a call has computed, :func:`save` writes it, :func:`plotted` does both."""

from netsor.plot.files import FORMATS, save
from netsor.plot.results import figure_of, plotted

__all__ = ["FORMATS", "figure_of", "plotted", "save"]
