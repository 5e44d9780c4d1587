"""The whole answer of ``netsor run``: what the program is, its scores, its outputs, and what that stands on."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import Any

import click

from netsor.cli.text.duration import duration
from netsor.cli.text.numbers import LEGEND
from netsor.cli.text.outputs import LINE, describe
from netsor.cli.text.scores import describe_scores
from netsor.finite.failures import sizes_of_widths
from netsor.ir.program import Program
from netsor.limit.analysis import Theorem
from netsor.limit.result import LimitResult

INDENT = "    "


def report(result: LimitResult, seconds: float, wanted: int) -> str:
    """The text for a terminal or a pipe.

    :param wanted: samples asked for (more than were drawn if the run was interrupted).
    """
    lines = header(result.program)
    scores = describe_scores(result.analysis)
    if scores:
        lines += ["", _strong("scores"), *(INDENT + line for line in scores)]
    lines += ["", _strong("outputs")]
    for variable in result.values():
        lines += [*(INDENT + line for line in describe(variable)), ""]
    if any(re.search(r"\d\(\d\)", line) for line in lines):
        lines += [LEGEND]
    lines += [*theorem(result.theorem), _effort(result, seconds, wanted)]
    return "\n".join(lines)


def header(program: Program, width: int | None = None) -> list[str]:
    """The name, the docstring's first line, the widths (at a finite one, their sizes there) and the parameters."""
    first = next((line.strip() for line in program.docstring.splitlines() if line.strip()), "")
    parameters = ", ".join(f"{name} = {parameter(value)}" for name, value in program.parameters.items())
    name = _strong(program.name) + (f": {first}" if first else "")
    at = f"{program.width} → ∞" if width is None else f"{program.width} = {width:,}"
    sizes = {} if width is None else sizes_of_widths(program, width)
    further = "".join(f", {own} = {size}" + (f" = {sizes[own]:,}" if sizes else "") for own, size in program.further_widths.items())
    return [name, at + further + (f" with {parameters}" if parameters else "")]


def parameter(value: Any) -> str:
    """A parameter's value; an infinite one is ``inf`` as in programs."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def theorem(stands_on: Theorem) -> list[str]:
    """Whether this is proved, and where."""
    word = "theorem" if stands_on.proved else "extension"
    return wrap(f"{word}: {stands_on.name}; {stands_on.reason}", LINE, subsequent_indent=INDENT)


def _effort(result: LimitResult, seconds: float, wanted: int) -> str:
    samples = f"{result.samples:,} samples of the scores" if result.samples else "nothing sampled"
    if not result.samples and any(
        axis.range.infinite for score in result.analysis.needed_scores() for axis in score.axes
    ):
        samples = "16 randomisations of the infinite axis"
    if result.interrupted:
        samples = f"interrupted: {result.samples:,} of {wanted:,} samples of the scores"
    return f"{samples}, seed {result.seed}, {duration(seconds)}"


def _strong(text: str) -> str:
    return click.style(text, bold=True)
