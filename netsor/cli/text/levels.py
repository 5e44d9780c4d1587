"""The score groups of a program: members, level, structure, batch axes, fresh factor."""

from __future__ import annotations

from collections.abc import Iterator

from netsor.cli.text.numbers import count
from netsor.cli.text.scores import structure
from netsor.ir.program import Family, RandomScalar, Score
from netsor.limit.analysis import Analysis
from netsor.limit.fresh_factor import Together
from netsor.limit.scores import Group, Member
from netsor.rules import Source


def describe_levels(analysis: Analysis) -> Iterator[str]:
    """A paragraph for each group of correlated scores."""
    if not analysis.groups:
        yield "no scores: the limit is not random"
        return
    for number, group in enumerate(analysis.groups, 1):
        if number > 1:
            yield ""
        levels = sorted({analysis.depth[family] for family in group.families})
        on = f"level {levels[0]}" if len(levels) == 1 else f"levels {levels[0]} to {levels[-1]}"
        yield f"group {number}: {count(len(group.members), 'family', 'families')} of scores, {on}, {_drawing(group)}"
        for member in group.members:
            yield f"    {member.family.label} = {_sides(member.family)}"
            yield f"        level {analysis.depth[member.family]}, {structure(member.family, group, analysis)}"
            yield f"        batch axes: {', '.join(axis.name for axis in member.batch) or 'none'}"
            if isinstance(member.family.definition, Score):
                yield f"        fresh factor: {_fresh(member, analysis)}"


def _drawing(group: Group) -> str:
    return "bilinear (drawn as L Ξ Rᵀ)" if group.bilinear else "joint (drawn as one Gaussian vector)"


def _sides(family: Family) -> str:
    if isinstance(family.definition, RandomScalar):
        return "random scalars among the inputs"
    sides = (family.definition.left, family.definition.right)
    shown = ", ".join(side.family.label if side.family.hidden else repr(side) for side in sides)
    return f"dot({shown})/sqrt({sides[0].family.width})"


def _fresh(member: Member, analysis: Analysis) -> str:
    factor = analysis.fresh.of(member.family)
    if factor is None:
        return "none"
    return " and ".join(map(_name, factor.sources if isinstance(factor, Together) else (factor,)))


def _name(source: Source) -> str:
    name = getattr(source.owner, "name", repr(source.owner))
    subscripts = ",".join("·" if s is None else str(s) for s in source.subscripts)
    return f"{name}[{subscripts}]" if subscripts else name
