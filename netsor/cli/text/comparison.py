"""A comparison for a reader: widths, statistics, what is off, and what was able to tell."""

from __future__ import annotations

import click
import numpy as np

from netsor.cli.text.duration import duration
from netsor.cli.text.numbers import number
from netsor.cli.text.report import INDENT, header
from netsor.cli.text.table import table
from netsor.compare.result import AGREES, BIAS, DISAGREES, UNDEFINED, UNRESOLVED, Comparison, StatisticResult
from netsor.ir.program import Program

COLOURS = {AGREES: "green", BIAS: "yellow", DISAGREES: "red", UNRESOLVED: "yellow"}
WORDS = {AGREES: "agree", BIAS: "differ by the O(1/n) bias", DISAGREES: "disagree", UNRESOLVED: "unresolved"}
SHOWN = 10


def describe(comparison: Comparison, program: Program, wanted: tuple[int, ...], seconds: float) -> list[str]:
    """The lines of ``netsor compare``; ``wanted`` are the widths asked for."""
    lines = [*header(program), ""]
    rows = [
        [f"{width:,}", own.verdict, ", ".join(f"{count:,} {WORDS[word]}" for word, count in own.counts.items())]
        for width, own in comparison.per_width.items()
    ]
    lines += [INDENT + line for line in table(["width", "verdict", "statistics"], rows)]
    lines += ["", *(INDENT + line for line in _statistics(comparison))]
    off = [result for result in comparison.results if result.verdict != AGREES]
    if off:
        lines += ["", _strong("off"), *(INDENT + line for line in _off(off))]
    for control in comparison.controls:
        word = "rejected" if control.rejected else "omitted" if not control.details else "not rejected"
        colour = "green" if control.passed else "red"
        lines += ["", f"control: {control.control}   {click.style(word, fg=colour, bold=True)}", INDENT + control.reason]
    lines += _kernel_densities(comparison)
    lines += [""] + [f"note: {note}" for note in comparison.notes]
    verdict = click.style(comparison.verdict, fg=COLOURS[comparison.verdict], bold=True)
    meaning = comparison.meaning.removeprefix(f"{comparison.verdict} ")
    tests = f"{comparison.tests:,} statistics together, false-alarm rate {comparison.level:g}, {comparison.level_of_each:.2g} for each"
    return [*lines, f"{verdict}  {meaning}: {tests}", _effort(comparison, wanted, seconds)]


def _statistics(comparison: Comparison) -> list[str]:
    """One line for each statistic of each output: the largest |z| among its elements (distances of distributions)."""
    groups: dict[tuple[str, str], list[StatisticResult]] = {}
    for result in comparison.results:
        groups.setdefault((result.output, result.statistic), []).append(result)
    rows = []
    for (output, statistic), own in groups.items():
        at = [_largest([result.widths[k].z for result in own], [result.widths[k].difference for result in own])
              for k in range(len(comparison.widths))]
        last = _largest([result.decision.z for result in own], [result.decision.difference for result in own])
        rates = [result.rate for result in own if result.rate is not None]
        rate = number(*min(rates, key=lambda pair: pair[1])) if rates else "-"
        rows.append([output, statistic, str(len(own)), *at, last, _range([result.decision.smallest_detectable for result in own]), rate])
    widths = [f"n = {width:,}" for width in comparison.widths]
    return table(["output", "statistic", "places", *widths, "n → ∞", "detectable", "rate"], rows)


def _range(values: list[float]) -> str:
    """ "0.012 … 0.034": the smallest and the largest that is finite; one number where they round to the same."""
    known = [f"{each(found):.2g}" for each in (min, max) if (found := [value for value in values if np.isfinite(value)])]
    return " … ".join(dict.fromkeys(known)) or "-"


def _largest(z: list, distance: list) -> str:
    known = [value for value in (distance if z[0] is None else z) if np.isfinite(value)]
    if not known:
        return "undefined"
    return f"D {max(known):.4f}" if z[0] is None else f"{max(known, key=abs):.1f}"


def _off(results: list[StatisticResult]) -> list[str]:
    worst = sorted(results, key=lambda result: result.decision.p_value)[:SHOWN]
    lines = []
    for result in worst:
        own = result.decision
        if own.by == UNDEFINED:
            lines.append(f"{result.statistic} of {result.element}, by {UNDEFINED}")
            continue
        found = f"off by {own.difference:.4g}"
        if result.limit is not None:
            found = f"{number(own.finite, own.stderr)}, the limit is {number(result.limit, result.limit_error)}, z = {own.z:.1f}"
        lines.append(f"{result.statistic} of {result.element}, by {own.by}: {found}, p = {own.p_value:.1g}")
    more = len(results) - len(worst)
    return lines + ([f"and {more:,} more"] if more else [])


def _kernel_densities(comparison: Comparison) -> list[str]:
    if not comparison.kernel_densities:
        return []
    rows = [[f"{own.width:,}", own.element, f"{own.value:.2e}" if np.isfinite(own.value) else "undefined", f"{own.floor:.2e} ± {own.floor_deviation:.0e}"]
            for own in comparison.kernel_densities]
    title = "divergence of kernel density estimates (for figures; it decides nothing)"
    return ["", title, *(INDENT + line for line in table(["width", "element", "KL", "noise floor"], rows))]


def _effort(comparison: Comparison, wanted: tuple[int, ...], seconds: float) -> str:
    samples = f"{comparison.samples:,} samples of the scores" if comparison.samples else _certainty(comparison)
    widths = ""
    if comparison.interrupted:
        done = len(comparison.widths)
        runs = f"{done * comparison.runs:,} of {len(wanted) * comparison.runs:,} runs"
        dropped = f" ({comparison.dropped:,} more at width {wanted[done]:,} are not used)" if comparison.dropped else ""
        widths = f"interrupted: {done} of {len(wanted)} widths, {runs}{dropped}; "
    return f"{widths}{comparison.runs:,} runs at each width, {samples}, seed {comparison.seed}, {duration(seconds)}"


def _certainty(comparison: Comparison) -> str:
    """How well the limit is known where no scores are sampled."""
    errors = [float(np.max(own.error, initial=0.0)) for variable in comparison.limit.values() for own in (variable.mean, variable.var)]
    return "an exact limit" if not max(errors, default=0.0) else f"a limit with errors up to {max(errors):.1g}"


def _strong(text: str) -> str:
    return click.style(text, bold=True)
