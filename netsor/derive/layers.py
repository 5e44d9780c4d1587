"""Loops as readers write them: statements that are the same in every pass, with the loop's number a letter."""

from __future__ import annotations

from dataclasses import replace

import sympy

from netsor.derive.names import LoopNumber
from netsor.derive.statement import Statement

LETTERS = ("l", "t", "m", "k", "r")


def with_loops(statements: list[Statement]) -> list[Statement]:
    """The statements with runs that differ in a loop's number only made one: the general step of a recursion, its first steps
    before it where they are different."""
    result = list(statements)
    for place in range(1 + max((number.place for each in statements for number in _numbers(each)), default=-1)):
        result = _merge(result, place)
    return result


def _merge(statements: list[Statement], place: int) -> list[Statement]:
    runs: dict[tuple, list[tuple[int, Statement]]] = {}
    order: list = []
    for statement in statements:
        own = [number for number in _numbers_of(statement.symbol) if number.place == place]
        if len({number.value for number in own}) != 1:
            order.append(statement)
            continue
        value = own[0].value
        general = _general(statement, place, own[0].of, value)
        key = (statement.section, general.left, general.right, tuple((w.left, w.right) for w in general.where), statement.rule, general.law,
               bool(statement.given))
        run = runs.get(key)
        if run is not None and _continues([each for each, _ in run], value):
            run.append((value, general))
            continue
        runs[key] = run = [(value, general)]
        order.append((run, statement))
    merged = []
    for entry in order:
        if isinstance(entry, Statement):
            merged.append(entry)
            continue
        run, first = entry
        if len(run) == 1:
            merged.append(first)
            continue
        letter = _letter(run[0][1])
        values = [value for value, _ in run]
        condition = f"{letter} = {min(values)}..{max(values)}"
        joined = ", ".join(filter(None, (first.condition, condition)))
        merged.append(replace(_renamed(run[0][1], letter), condition=joined))
    return merged


def _continues(values: list[int], value: int) -> bool:
    """Whether a pass is the next one of a run of passes, up or down."""
    step = values[1] - values[0] if len(values) > 1 else value - values[0]
    return abs(step) == 1 and value == values[-1] + step


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
        law=None if statement.law is None else statement.law.xreplace(names),
        where=[_replaced(part, names) for part in statement.where])


def _expressions(statement: Statement) -> list[sympy.Expr]:
    found = [statement.left, statement.right] + ([] if statement.name is None else [statement.name])
    return found + [expr for part in statement.where for expr in _expressions(part)]


def _numbers_of(expr: sympy.Expr) -> list[LoopNumber]:
    return sorted(expr.atoms(LoopNumber), key=lambda number: number.place)


def _numbers(statement: Statement) -> set[LoopNumber]:
    return {number for expr in _expressions(statement) for number in expr.atoms(LoopNumber)}
