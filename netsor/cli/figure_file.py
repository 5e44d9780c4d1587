"""``--plot FILE``: the figure of a result."""

from __future__ import annotations

from typing import Any

import click

from netsor.cli.output_file import OutputFile

plot_option = click.option("--plot", metavar="FILE.png", help="Draw it too: a file that ends in .png, .svg or .pdf.")


class FigureFile(OutputFile):
    """A picture whose format is that of its name."""

    def __init__(self, path: str):
        from netsor.plot.files import FORMATS

        super().__init__(path, tuple(f".{name}" for name in FORMATS), "--plot")

    def write(self, result: Any) -> None:
        """Draw a limit, a simulation or a comparison."""
        from netsor.plot import figure_of
        from netsor.plot.files import write

        write(figure_of(result), self.file, self.path.suffix.lower()[1:])
        self.complete()
