"""The law of the scores: how many, of which level, and the structure of their covariance."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from netsor.cli.text.numbers import count, number
from netsor.ir.expressions import Index
from netsor.ir.labelled import TooLarge
from netsor.ir.program import Family
from netsor.limit.analysis import Analysis
from netsor.limit.levels import Level
from netsor.limit.numbers import Numbers, Undefined
from netsor.limit.recursion import copy
from netsor.limit.scores import Group, score_covariance

SHOWN = 8  # lines for scores of one kind; the rest are counted


def describe_scores(analysis: Analysis) -> list[str]:
    """The lines about the scores that a result depends on."""
    lines = []
    for number_, group in enumerate(analysis.groups):
        if len(analysis.groups) > SHOWN and SHOWN // 2 <= number_ < len(analysis.groups) - SHOWN // 2:
            if number_ == SHOWN // 2:
                more = count(len(analysis.groups) - SHOWN, "more group")
                lines.append(f"… {more} (netsor check --show levels shows all)")
            continue
        lines += _group(group, analysis)
    return lines


def _group(group: Group, analysis: Analysis) -> list[str]:
    lines = [
        f"{family.label}   {_score(family, analysis)}, {structure(family, group, analysis)}"
        if analysis.depth[family] or not family.hidden else _of_another_law(family)
        for family in group.families[:SHOWN]
    ]
    if len(group.families) > SHOWN:
        lines.append(f"… and {len(group.families) - SHOWN:,} more")
    if len(group.families) > 1:
        lines.append(f"these {len(group.families)} are correlated with each other")
    return lines


def _of_another_law(family: Family) -> str:
    """The line of an input whose law is not Gaussian; ``family`` are the normal numbers behind it."""
    name = family.name.split(".")[0]
    finite = math.prod(axis.range.size for axis in family.axes if not axis.range.infinite)
    return f"{family.label.replace(family.name, name, 1)}   input: {count(finite, 'random scalar')}, independent, not Gaussian"


def _score(family: Family, analysis: Analysis) -> str:
    level = analysis.depth[family]
    infinite = [axis.name for axis in family.axes if axis.range.infinite]
    finite = math.prod(axis.range.size for axis in family.axes if not axis.range.infinite)
    many = count(finite, "score" if level else "random scalar") + (f" for each of infinitely many {infinite[0]}" if infinite else "")
    if not level:
        return f"input: {many}, Gaussian"
    given = ("", "", " given level 1")[level] if level <= 2 else f" given levels 1 to {level - 1}"
    return f"level {level}: {many}, Gaussian{given}"


def structure(family: Family, group: Group, analysis: Analysis) -> str:
    """The covariance of the elements of a score in words: independent, a Kronecker product, or a full matrix."""
    kernel = score_covariance(family, family, analysis.recursion)
    diagonal = {frozenset((copy(axis, "x"), copy(axis, "y"))) for axis in family.axes}
    if family.axes and all(diagonal <= set(equalities) for equalities, _ in kernel.terms):
        return "independent" + _variance(family, analysis)
    if not family.axes:
        return "alone" + _variance(family, analysis)
    member = next(member for member in group.members if member.family is family)
    apart = f"independent over {_names(member.batch)}, " if member.batch else ""
    rest = [axis for axis in family.axes if axis not in member.batch]
    if not rest:
        return "independent" + _variance(family, analysis)
    if group.bilinear and member.left.axes and member.right.axes:
        sides = " ⊗ ".join(f"({_names(side.axes)})" for side in (member.left, member.right))
        return f"{apart}Kronecker covariance {sides}" + _variance(family, analysis)
    return f"{apart}correlated over {_names(rest)}" + _variance(family, analysis)


def _names(axes: Iterable[Index]) -> str:
    return ", ".join(axis.name for axis in axes)


def _variance(family: Family, analysis: Analysis) -> str:
    """The variance where it is a number (level 1) or its range over the elements."""
    kernel = score_covariance(family, family, analysis.recursion)
    same = {copy(axis, "y"): copy(axis, "x") for axis in family.axes}
    expression = kernel.substitute(same).expression()
    if analysis.levels.of(expression) != Level.STATIC:
        return ""
    numbers = Numbers(analysis.recursion, analysis.levels)
    try:
        numbers.prepare(expression)
        values = np.asarray(numbers.evaluate(expression).data)
    except (TooLarge, Undefined):
        return ""
    relative, _ = numbers.quadrature_error(expression)
    least, most = (number(float(v), relative * float(np.max(np.abs(values)))) for v in (values.min(), values.max()))
    return f", variance {least}" + (f" to {most}" if most != least else "")
