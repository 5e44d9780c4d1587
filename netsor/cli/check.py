"""netsor check: is this a program, and does the theorem cover it?"""

from __future__ import annotations

import math

import click

from netsor.cli import options
from netsor.cli.command import Command

STAGES = ("syntax", "ir", "kinds", "levels")


@click.command(cls=Command, short_help="Check a program without computing its limit.")
@options.file_argument
@click.option("--show", type=click.Choice(STAGES), help="Print what a stage makes of the program.")
@options.set_option
@options.data_option
@options.json_option
@options.plugin_option
def command(file, show, settings, data, as_json, plugins) -> None:
    """Check the program in FILE (- for the standard input): syntax, names, kinds, data, and the conditions of the
    theorem.

    \b
    --show syntax   the tree of what is written
    --show ir       families, axes and definitions as every reading consumes them
    --show kinds    the kind of every value: vectors G and H, scalars C and S
    --show levels   the scores: which are correlated, on which level, with what structure
    """
    source = options.source(file)
    if show == "syntax":
        from netsor.cli.text.tree import describe_tree
        from netsor.language.parse import parse

        click.echo("\n".join(describe_tree(parse(source))))
    program = options.load(source, settings, data, plugins).ir
    if show == "ir":
        from netsor.ir.show import program_text

        click.echo(program_text(program))
    if show == "kinds":
        from netsor.cli.text.kinds import describe_kinds

        click.echo("\n".join(describe_kinds(program)))
    from netsor.limit.analysis import Analysis

    analysis = Analysis(program)
    groups = analysis.groups
    if show == "levels":
        from netsor.cli.text.levels import describe_levels

        click.echo("\n".join(describe_levels(analysis)))
    if as_json:
        from netsor.cli.failures import as_object
        from netsor.cli.json_output import dump

        warnings = [as_object(warning) for warning in program.warnings]
        theorem = {"name": analysis.theorem.name, "proved": analysis.theorem.proved, "reason": analysis.theorem.reason}
        click.echo(dump({"ok": True, "program": program.name, "theorem": theorem, "warnings": warnings}))
        return
    options.warn(program.warnings)
    click.echo(("\n" if show else "") + _summary(program, analysis, groups))


def _summary(program, analysis, groups) -> str:
    from netsor.cli.text.numbers import count

    parts = [
        count(sum(not family.hidden for family in program.families), "definition"),
        count(len(program.outputs), "output"),
    ]
    scores = [family for group in groups for family in group.families]
    if scores:
        sizes = [math.prod(axis.range.size for axis in family.axes if not axis.range.infinite) for family in scores]
        levels = max(analysis.depth[family] for family in scores)
        infinite = (
            " for each element of an infinite axis"
            if any(axis.range.infinite for f in scores for axis in f.axes)
            else ""
        )
        what = f"{count(sum(sizes), 'score')}{infinite} on {count(levels, 'level')}" if levels else count(sum(sizes), "random scalar")
        parts.append(what)
    if program.expectations:
        parts.append(count(len(program.expectations), "expectation"))
    if program.warnings:
        parts.append(count(len(program.warnings), "warning"))
    word = "theorem" if analysis.theorem.proved else "extension"
    return (
        click.style("ok", fg="green", bold=True)
        + f"  {program.name}: {', '.join(parts)}; {word}: {analysis.theorem.name}"
    )
