"""netsor test: do programs give the numbers that they state?"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from netsor.cli import options
from netsor.cli.backends import workers_option
from netsor.cli.command import INTERRUPTED, Command
from netsor.cli.program_files import program_files
from netsor.cli.progress import ProgressDisplay
from netsor.cli.text.duration import duration
from netsor.cli.widths import further_widths_option, runs_option
from netsor.compare.defaults import LEVEL

if TYPE_CHECKING:
    from netsor.cli.verdicts import Verdict
    from netsor.compare.expectations import ExpectationResult


@dataclass(frozen=True)
class FiniteWidths:
    """What is to be drawn of each file; ``level`` is the file's share of the run's false-alarm rate."""

    widths: tuple[int, ...]
    runs: int
    level: float


@dataclass
class Tested:
    """One file: its verdicts, or what is wrong with it.  ``at_width`` has one result for each verdict, or is empty if
    nothing was drawn; ``infinite`` are the parameters because of which nothing could be; ``stopped_at`` says how far an
    interruption at finite width came."""

    file: str
    program: str = ""
    verdicts: list[Verdict] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    at_width: list[ExpectationResult] = field(default_factory=list)
    infinite: list[str] = field(default_factory=list)
    runs: int = 0
    samples: int = 0
    interrupted: bool = False
    stopped_at: str = ""
    problems: list = field(default_factory=list)
    seconds: float = 0.0


@click.command(cls=Command, short_help="Check the expect lines of programs.")
@click.argument("files", metavar="FILE|DIR...", nargs=-1, required=True)
@options.set_option
@options.data_option
@options.samples_option
@options.points_option
@further_widths_option
@runs_option
@options.seed_option
@workers_option
@options.json_option
@options.plugin_option
@click.pass_context
def command(ctx, files, settings, data, samples, points, widths, runs, seed, workers, as_json, plugins) -> None:
    """Check the expect lines of programs, and of all *.netsor files in directories.

    \b
    passed      |found - expected| <= tolerance + 4 errors, and 4 errors <= tolerance
    consistent  the same, but 4 errors > tolerance: more samples would decide
    failed      |found - expected| > tolerance + 4 errors
    skipped     a param is set with --set: the line speaks of the values in the file

    A true line fails by chance in at most 0.12 % of runs.  The exit status is 1 if a line failed or a file has errors.

    With --width the lines are also checked at finite widths: drawn at each, extrapolated to infinite width, and failed if
    |extrapolated - expected| > tolerance + q errors, q such that a true line of any file fails with probability 1e-4 at most.
    """
    from netsor.finite.backends import drawing_on

    tested, programs = [], program_files(files)
    finite = FiniteWidths(widths, runs, LEVEL / len(programs)) if widths else None
    for file in programs:
        with drawing_on(None, workers=workers):
            tested.append(_test(file, settings, data, samples, points, seed, plugins, finite))
        if not as_json:
            _show(tested[-1], seed)
        if tested[-1].interrupted:
            break
    counts = Counter(verdict.verdict for each in tested for verdict in each.verdicts)
    drawn = Counter(result.verdict for each in tested for result in each.at_width)
    if as_json:
        from netsor.cli.json_output import dump

        click.echo(dump(_object(tested, counts, seed, finite, drawn)))
    else:
        click.echo(_summary(tested, counts, drawn))
    if tested[-1].interrupted:
        ctx.exit(INTERRUPTED)
    ctx.exit(1 if counts["failed"] or drawn["disagrees"] or any(each.problems for each in tested) else 0)


def _test(file: str, settings, data, samples, points, seed, plugins, finite: FiniteWidths | None) -> Tested:
    from netsor.cli.failures import diagnostics_of

    tested, start = Tested(file), time.perf_counter()
    try:
        program = options.load(file, settings, data, plugins)
        _judge(tested, program, samples, points, seed)
        if finite is not None and not (tested.changed or tested.interrupted):
            _judge_at(finite, tested, program.ir, seed)
    except Exception as error:  # what is wrong with one file does not keep others from being tested
        if click.get_current_context().meta.get("netsor.debug"):
            raise
        tested.problems = diagnostics_of(error)
    tested.seconds = time.perf_counter() - start
    return tested


def _judge(tested: Tested, program, samples, points, seed) -> None:
    from netsor.cli import verdicts

    tested.program = program.name
    tested.changed = sorted(program.ir.changed)
    if tested.changed or not program.ir.expectations:
        tested.verdicts = [verdicts.skip(expectation) for expectation in program.ir.expectations]
        return
    if samples is not None:
        from netsor.cli.cost import refuse_if_too_large

        refuse_if_too_large(program.ir, samples, program.outputs)
    with ProgressDisplay() as progress:
        result = program.limit(samples=samples, points=points, seed=seed, progress=progress)
    tested.samples, tested.interrupted = result.samples, result.interrupted
    tested.verdicts = [verdicts.judge(expectation, found, program.ir) for expectation, found in result.expectations]


def _judge_at(finite: FiniteWidths, tested: Tested, program, seed: int) -> None:
    from netsor.compare.expectations import judge_expectations

    if not program.expectations:
        return
    tested.infinite = sorted(program.infinite)
    if tested.infinite:
        return
    tested.runs = finite.runs
    try:
        with ProgressDisplay() as progress:
            tested.at_width = judge_expectations(program, finite.widths, finite.runs, seed, finite.level, progress)
    except KeyboardInterrupt:  # the limit's verdicts are known
        tested.interrupted = True
        tested.stopped_at = _how_far(finite, progress.done)


def _how_far(finite: FiniteWidths, done: int) -> str:
    """ "768 of 6,000 runs done, width 64 of 64, 128, 256" """
    finished, wanted = (", ".join(f"{width:,}" for width in own) for own in (finite.widths[: done // finite.runs], finite.widths))
    widths = f"widths {finished} of {wanted}" if finished else f"none of the widths {wanted}"
    return f"{done:,} of {finite.runs * len(finite.widths):,} runs done, {widths}"


# --- output


def _show(tested: Tested, seed: int) -> None:
    from netsor.cli.failures import report
    from netsor.cli.text.numbers import count
    from netsor.cli.text.verdicts import describe_at_finite_width, describe_verdict

    if tested.problems:
        click.echo(click.style(tested.file, bold=True) + "   cannot be tested")
        report(tested.problems)
        click.echo()
        return
    if not tested.verdicts:
        click.echo(click.style(tested.file, bold=True) + "   states no expectations\n")
        return
    how = (
        f"{tested.samples:,} samples, seed {seed}, {duration(tested.seconds)}"
        if tested.samples
        else duration(tested.seconds)
    )
    if tested.at_width:
        at = tested.at_width[0].decisive.widths
        how += f", {tested.runs:,} runs at each of widths {', '.join(f'{each.width:,}' for each in at)}"
    if tested.changed:
        names = ", ".join(tested.changed)
        how = f"skipped: {names} set from outside, and the expectations are about the values in the file"
    if tested.interrupted and not tested.stopped_at:
        how = f"interrupted after {how}"
    click.echo(click.style(tested.file, bold=True) + f"   {count(len(tested.verdicts), 'expectation')}, {how}")
    for k, verdict in enumerate(tested.verdicts):
        for line in describe_verdict(verdict, tested.samples):
            click.echo(f"    {line}")
        if tested.at_width:
            click.echo(f"    {describe_at_finite_width(tested.at_width[k])}")
    if tested.stopped_at:
        click.echo(f"    at finite width: interrupted, nothing is judged there; {tested.stopped_at}")
    if tested.infinite:
        names = ", ".join(tested.infinite)
        click.echo(f"    at finite width: not checked, {names} must be finite there")
    click.echo()


def _summary(tested: list[Tested], counts: Counter, drawn: Counter) -> str:
    from netsor.cli.text.numbers import count

    words = [f"{counts[word]} {word}" for word in ("passed", "consistent", "failed", "skipped") if counts[word]]
    broken = sum(bool(each.problems) for each in tested)
    if broken:
        words.append(f"{count(broken, 'file')} with errors")
    return f"{count(sum(counts.values()), 'expectation')} in {count(len(tested), 'file')}" + (
        f": {', '.join(words)}" if words else ""
    ) + _summary_at_finite_width(drawn)


def _summary_at_finite_width(drawn: Counter) -> str:
    from netsor.cli.text.verdicts import AT_FINITE_WIDTH

    words = [f"{drawn[verdict]} {word}" for verdict, word in AT_FINITE_WIDTH.items() if drawn[verdict]]
    return f"; at finite width {', '.join(words)}" if words else ""


def _object(
    tested: list[Tested], counts: Counter, seed: int, finite: FiniteWidths | None, drawn: Counter
) -> dict[str, Any]:
    from netsor import __version__
    from netsor.cli.text.verdicts import AT_FINITE_WIDTH

    summary: dict[str, Any] = {word: counts[word] for word in ("passed", "consistent", "failed", "skipped")}
    if finite is not None:
        summary["at_finite_width"] = {word: drawn[verdict] for verdict, word in AT_FINITE_WIDTH.items()}
    return {"netsor": __version__, "seed": seed, "files": [_file_object(each) for each in tested], "summary": summary}


def _file_object(tested: Tested) -> dict[str, Any]:
    from netsor.cli.failures import as_object
    from netsor.cli.json_output import estimate_object, numbers

    found: dict[str, Any] = {"file": tested.file}
    if tested.problems:
        return found | {"error": [as_object(problem) for problem in tested.problems]}
    found |= {"program": tested.program, "samples": tested.samples, "expectations": []}
    if tested.at_width:
        found["runs"] = tested.runs
    for k, verdict in enumerate(tested.verdicts):
        own: dict[str, Any] = {
            "text": verdict.text,
            "line": verdict.expectation.span.line,
            "verdict": verdict.verdict,
            "indices": {index.name: index.range.size for index in verdict.expectation.indices},
        }
        if verdict.found is not None:
            own |= {
                "expected": numbers(verdict.expected),
                "tolerance": numbers(verdict.tolerance),
                "found": estimate_object(verdict.found),
                "needed_error": verdict.needed_error,
            }
        if tested.at_width:
            own["at_finite_width"] = _finite_width_object(tested.at_width[k])
        found["expectations"].append(own)
    if tested.infinite:
        found["infinite"] = tested.infinite
    if tested.interrupted:
        found["interrupted"] = True
    if tested.stopped_at:
        found["at_finite_width"] = f"interrupted: {tested.stopped_at}"
    return found | {"seconds": round(tested.seconds, 3)}


def _finite_width_object(result: ExpectationResult) -> dict[str, Any]:
    from netsor.cli.json_output import finite
    from netsor.cli.text.verdicts import AT_FINITE_WIDTH

    decision = result.decisive.decision
    return {
        "verdict": AT_FINITE_WIDTH[result.verdict],
        "widths": [at.width for at in result.decisive.widths],
        "place": result.decisive.element,
        "by": decision.by,
        "value": finite(decision.finite),
        "error": finite(decision.stderr),
        "expected": finite(result.decisive.limit),
        "p_value": finite(decision.p_value),
        "smallest_detectable": finite(result.smallest_detectable),
    }
