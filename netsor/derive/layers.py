"""Loops as readers write them: statements that are the same in every pass, with the loop's number a letter."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import sympy

from netsor.derive.mentions import key, mentioned
from netsor.derive.names import LoopNumber
from netsor.derive.statement import Statement

DEFINED = ("given", "kernels", "scalars")  # sections whose left sides other formulas mention
LETTERS = ("l", "t", "m", "k", "r")


def with_loops(statements: list[Statement]) -> list[Statement]:
    """The statements with runs that differ in a loop's number only made one: the general step of a recursion, its first steps
    before it where they are different."""
    result = list(statements)
    for place in range(1 + max((number.place for each in statements for number in _numbers(each)), default=-1)):
        result = _merge(result, place)
    return result


@dataclass
class Member:
    """A statement that may be one pass of a recursion."""

    position: int
    value: int
    statement: Statement
    general: Statement


Run = list[Member]


def _merge(statements: list[Statement], place: int) -> list[Statement]:
    latest: dict[tuple, Run] = {}
    runs: list[Run] = []
    for position, statement in enumerate(statements):
        own = [number for number in _numbers_of(statement.symbol) if number.place == place]
        if len({number.value for number in own}) != 1:
            continue
        value = own[0].value
        general = _general(statement, place, own[0].of, value)
        same = (statement.section, general.left, general.right, tuple((w.left, w.right) for w in general.where), statement.rule)
        member = Member(position, value, statement, general)
        if same in latest and latest[same][-1].value == value - 1:
            latest[same].append(member)
        else:
            latest[same] = [member]
            runs.append(latest[same])
    users = _users(statements)
    lines = dict(enumerate(statements))
    for run in runs:
        if len(run) > 1:
            for member in run:
                del lines[member.position]
            lines[_place(run, users)] = _joined(run)
    return [lines[position] for position in sorted(lines)]


def _users(statements: list[Statement]) -> dict[tuple, list[int]]:
    """Where each quantity is mentioned."""
    found: dict[tuple, list[int]] = defaultdict(list)
    for position, each in enumerate(statements):
        for name in {key(one)[0] for part in (each, *each.where) for one in mentioned(part.right)}:
            found[name].append(position)
    return found


def _joined(run: Run) -> Statement:
    """One line for all members."""
    letter = _letter(run[0].general)
    condition = f"{letter} = {run[0].value}..{run[-1].value}"
    joined = ", ".join(filter(None, (run[0].statement.condition, condition)))
    return replace(_renamed(run[0].general, letter), condition=joined)


def _place(run: Run, users: dict[tuple, list[int]]) -> int:
    """Where the line of a run stands: last, after all that it mentions; first where others in between mention it (a recursion of several
    lines)."""
    first, last, own = run[0].position, run[-1].position, {member.position for member in run}
    if run[0].statement.section in DEFINED:
        names = [key(part.symbol)[0] for member in run for part in (member.statement, *member.statement.where)]
        if any(first < position < last and position not in own for name in names for position in users.get(name, ())):
            return first
    return last


PASS = sympy.Symbol("<pass>", integer=True)


def _general(statement: Statement, place: int, of: int, value: int) -> Statement:
    """The statement with its loop number a symbol, and other numbers of that loop relative to it."""
    names = {
        number: PASS + (number.value - value) for number in _numbers(statement)
        if number.place == place and number.of in (of, 1)
    }
    return _replaced(statement, names)


def _letter(statement: Statement) -> str:
    used = {str(symbol) for expr in _expressions(statement) for symbol in expr.atoms(sympy.Symbol)}
    return next(letter for letter in (*LETTERS, *(f"{letter}_" for letter in LETTERS)) if letter not in used)


def _renamed(statement: Statement, letter: str) -> Statement:
    return _replaced(statement, {PASS: sympy.Symbol(letter, integer=True)})


def _replaced(statement: Statement, names: dict) -> Statement:
    inner = lambda expr: expr.xreplace(names)  # noqa: E731
    return replace(
        statement, left=inner(statement.left), right=inner(statement.right),
        name=None if statement.name is None else inner(statement.name),
        where=[_replaced(part, names) for part in statement.where])


def _expressions(statement: Statement) -> list[sympy.Expr]:
    found = [statement.left, statement.right] + ([] if statement.name is None else [statement.name])
    return found + [expr for part in statement.where for expr in _expressions(part)]


def _numbers_of(expr: sympy.Expr) -> list[LoopNumber]:
    return sorted(expr.atoms(LoopNumber), key=lambda number: number.place)


def _numbers(statement: Statement) -> set[LoopNumber]:
    return {number for expr in _expressions(statement) for number in expr.atoms(LoopNumber)}
