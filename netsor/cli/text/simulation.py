"""A simulation for a reader: each output as ``run`` shows it, estimated."""

from __future__ import annotations

import re

from netsor.cli.text.duration import duration
from netsor.cli.text.numbers import LEGEND
from netsor.cli.text.outputs import describe as describe_output
from netsor.cli.text.report import INDENT, header
from netsor.compare.simulation import Simulation


def describe(simulation: Simulation, seconds: float) -> list[str]:
    """The lines of ``netsor simulate``."""
    lines = [*header(simulation.program, simulation.width), ""]
    for own in simulation.values():
        lines += [*(INDENT + line for line in describe_output(own)), ""]
    if simulation.notes:
        lines += [*(f"note: {note}" for note in simulation.notes), ""]
    if any(re.search(r"\d\(\d\)", line) for line in lines):
        lines += [LEGEND]
    coordinates = "" if simulation.coordinates == 1 else f" with {simulation.coordinates:,} coordinates of vectors"
    runs = f"interrupted: {simulation.runs:,} of {simulation.wanted:,}" if simulation.interrupted else f"{simulation.runs:,}"
    return [*lines, f"{runs} runs{coordinates}, seed {simulation.seed}, {duration(seconds)}"]
