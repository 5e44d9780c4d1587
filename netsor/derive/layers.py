"""Loops as readers write them: statements that are the same in every pass, with the loop's number a letter.

A statement is about one pass (K_x[3]) or about two (K_x[3,1]): its largest number becomes a letter first, then the other one.  Numbers
near to the one that becomes a letter go with it (K_x[2] is K_x[l-1]), smaller ones may stay as they are (K_x[1] is where the loop
begins): which do is found by comparing the statements of one pass and the next, on the left, among the loop's numbers on the right
and among its integers (subscripts of data).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import sympy

from netsor.derive.mentions import key, mentioned
from netsor.derive.names import LoopNumber
from netsor.derive.statement import Statement

LETTERS = ("l", "m", "t", "k", "r")
PASS, ANY = sympy.Symbol("<pass>", integer=True), sympy.Symbol("<any>", integer=True)


def with_loops(statements: list[Statement]) -> list[Statement]:
    """The statements with runs that differ in a loop's numbers only made one: the general step of a recursion, its first steps
    before it where they are different."""
    result = list(statements)
    for place in range(1 + max((number.place for each in statements for number in _loop_numbers(each)), default=-1)):
        for _ in range(2):
            result = _merged(result, place)
    return _with_corners(result)


@dataclass
class Run:
    """Statements of consecutive passes, up or down, and the readings in which they are the same."""

    members: list[Statement]
    values: list[int]
    readings: dict[tuple, Statement]

    def goes_on(self, value: int, readings: dict[tuple, Statement]) -> bool:
        """Add the statement of the next pass if there is a reading in common."""
        step = self.values[1] - self.values[0] if len(self.values) > 1 else value - self.values[0]
        common = [key for key in self.readings if key in readings] if abs(step) == 1 and value == self.values[-1] + step else []
        if common:
            self.values.append(value)
            self.readings = {key: self.readings[key] for key in common}
        return bool(common)

    def statement(self) -> Statement:
        """All of them as one."""
        if len(self.members) == 1:
            return self.members[0]
        general = next(iter(self.readings.values()))
        letter = sympy.Symbol(_letter(general), integer=True)
        renamed = _replaced(general, {PASS: letter})
        return replace(renamed, passes=(*renamed.passes, (letter, *map(sympy.Integer, (min(self.values), max(self.values))))))


def _merged(statements: list[Statement], place: int) -> list[Statement]:
    alike: dict[tuple, list[tuple[int, Statement]]] = {}
    for statement in statements:
        number = _number(statement, place)
        if number is not None:
            alike.setdefault(_key(_general(statement, number, ANY)), []).append((number, statement))
    position = {id(statement): place for place, statement in enumerate(statements)}
    users = _users(statements)
    lines = dict(enumerate(statements))
    for group in alike.values():
        runs: list[Run] = []
        for number, statement in group if len(group) > 1 else ():
            readings = _readings(statement, number)
            run = next((run for run in reversed(runs) if run.goes_on(number.value, readings)), None)
            if run is None:
                runs.append(run := Run([], [number.value], readings))
            run.members.append(statement)
        for run in runs:
            own = [position[id(member)] for member in run.members]
            for each in own:
                del lines[each]
            lines[_place(run, own, users)] = run.statement()
    return [lines[place] for place in sorted(lines)]


def _users(statements: list[Statement]) -> dict[tuple, list[int]]:
    """Where each quantity is mentioned."""
    found: dict[tuple, list[int]] = defaultdict(list)
    for position, each in enumerate(statements):
        for name in {key(one)[0] for part in (each, *each.where) for one in mentioned(part.right)}:
            found[name].append(position)
    return found


def _place(run: Run, own: list[int], users: dict[tuple, list[int]]) -> int:
    """Where the line of a run stands: last, after all that it mentions; first where others in between mention it (a recursion of several
    lines)."""
    first, last = own[0], own[-1]
    if run.members[0].defines:
        names = [key(part.symbol)[0] for member in run.members for part in (member, *member.where)]
        if any(first < position < last and position not in own for name in names for position in users.get(name, ())):
            return first
    return last


def _with_corners(statements: list[Statement]) -> list[Statement]:
    """Over pairs of passes m < l, the last m has one l only, whose statement is no run by itself: it joins the others."""
    alone = {_key(_plain(each)): each for each in statements if not each.passes and _loop_numbers(each)}
    joined: set[int] = set()
    result = []
    for statement in statements:
        if len(statement.passes) == 2:
            (letter, low, high), (other, first, last) = statement.passes
            corner = {letter: high, other: last + 1}
            found = alone.get(_key(replace(_replaced(statement, corner), passes=()))) if low.subs(other, last + 1) == high else None
            if found is not None:
                joined.add(id(found))
                statement = replace(statement, passes=((letter, low, high), (other, first, last + 1)))
        result.append(statement)
    return [each for each in result if id(each) not in joined]


def _plain(statement: Statement) -> Statement:
    """The statement with the numbers of loops as integers."""
    return _replaced(statement, {each: sympy.Integer(each.value) for each in _loop_numbers(statement)})


def _number(statement: Statement, place: int) -> LoopNumber | None:
    """The largest number of the loop in what the statement is about."""
    own = [number for number in statement.symbol.atoms(LoopNumber) if number.place == place]
    return max(own, key=lambda number: number.value, default=None)


def _readings(statement: Statement, number: LoopNumber) -> dict[tuple, Statement]:
    """The statement with its number a symbol, and other numbers from a least one on relative to it, for each choice of what is least."""
    about, right = replace(statement, right=sympy.S.Zero, where=[]), replace(statement, left=sympy.S.Zero, name=None, passes=())
    integers = {each for part in _indexed(statement) for each in _integers(part)}
    integers |= {int(low) for _, low, _ in statement.passes if low.is_Integer}
    found = {}
    for least_integer in _least(integers):
        move = lambda part, least: _general(part, number, PASS - number.value, least, least_integer)  # noqa: E731, B023
        own = [move(about, least) for least in _least({each.value for each in _loop_numbers(about)}) if least <= number.value]
        for rest in [move(right, least) for least in _least({each.value for each in _loop_numbers(right)})]:
            for left in own:
                general = replace(left, right=rest.right, where=rest.where)
                found.setdefault(_key(general), general)
    return found


def _least(values: set[int]) -> list[int]:
    """Where what is relative may begin; beyond all of them where nothing is."""
    return [*sorted(values), max(values, default=0) + 1]


def _general(statement: Statement, number: LoopNumber, origin: sympy.Expr, least: int = 0, least_integer: int = 0) -> Statement:
    """The statement with each number of that loop, and each integer in a subscript, that is at least so large counted from an origin;
    by ANY, where that is the origin."""
    def moved(value: int) -> sympy.Expr:
        return ANY if origin is ANY else origin + value

    names: dict = {
        each: moved(each.value) for each in _loop_numbers(statement)
        if each.place == number.place and each.of in (number.of, 1) and (origin is ANY or each.value >= least)}
    shifted = lambda each: moved(int(each)) if each.is_Integer and (origin is ANY or each >= least_integer) else each  # noqa: E731
    for part in _indexed(statement):
        if _integers(part):
            names[part] = part.func(part.base, *[names.get(each, shifted(each)) for each in part.indices])
    general = _replaced(statement, names)
    return replace(general, passes=tuple((letter, shifted(low), high) for letter, low, high in general.passes))


def _key(general: Statement) -> tuple:
    where = tuple((part.left, part.right) for part in general.where)
    return general.section, general.left, general.right, where, general.rule, general.passes, general.law, bool(general.given)


def _integers(part: sympy.Indexed) -> list[int]:
    return [int(each) for each in part.indices if each.is_Integer]


def _letter(statement: Statement) -> str:
    used = {str(symbol) for expr in _expressions(statement) for symbol in expr.atoms(sympy.Symbol)}
    return next(letter for letter in (*LETTERS, *(f"{letter}_" for letter in LETTERS)) if letter not in used)


def _replaced(statement: Statement, names: dict) -> Statement:
    inner = lambda expr: expr.xreplace(names)  # noqa: E731
    return replace(
        statement, left=inner(statement.left), right=inner(statement.right),
        name=None if statement.name is None else inner(statement.name),
        passes=tuple((letter, inner(low), inner(high)) for letter, low, high in statement.passes),
        law=None if statement.law is None else statement.law.xreplace(names),
        where=[_replaced(part, names) for part in statement.where])


def _expressions(statement: Statement) -> list[sympy.Expr]:
    found = [statement.left, statement.right] + ([] if statement.name is None else [statement.name])
    return found + [expr for part in statement.where for expr in _expressions(part)]


def _indexed(statement: Statement) -> set[sympy.Indexed]:
    return {part for expr in _expressions(statement) for part in expr.atoms(sympy.Indexed)}


def _loop_numbers(statement: Statement) -> set[LoopNumber]:
    return {number for expr in _expressions(statement) for number in expr.atoms(LoopNumber)}
