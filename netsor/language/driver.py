"""Runs the LALR tables of grammar.lark over a list of tokens, and goes on after a mistake.

Lark makes the tables; its own loop is not used because it hashes a rule at every reduction (three times the time on
long programs) and cannot resume at the next statement.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from lark import Token

from netsor.language.build import KEPT_TOKENS, Builder
from netsor.language.grammar import parser
from netsor.language.source import Span


class Reduction(NamedTuple):
    size: int
    origin: str
    method: str  # the Builder's; "" if the parts are spliced into the rule that contains this one
    passes: bool  # `?rule` with a single part: that part itself
    absent: tuple[int, ...]  # the number of absent optional parts before each part, and after the last


class Tables(NamedTuple):
    actions: dict[int, dict[str, int | Reduction]]  # for each state: token or rule -> next state, or a reduction
    start: int
    end: int


@cache
def tables() -> Tables:
    conf = parser().parse_interactive("").parser_state.parse_conf
    reductions = {}

    def action(argument) -> int | Reduction:
        if isinstance(argument, int):
            return argument
        if id(argument) not in reductions:
            reductions[id(argument)] = _reduction(argument)
        return reductions[id(argument)]

    actions = {state: {str.__str__(symbol): action(argument) for symbol, (_, argument) in row.items()}
               for state, row in conf.states.items()}
    return Tables(actions, conf.start_state, conf.end_state)


def _reduction(rule) -> Reduction:
    origin = str.__str__(rule.origin.name)
    spliced = origin.startswith("_") and not rule.alias
    size = len(rule.expansion)
    passes = size == 1 and rule.options.expand1 and not rule.alias
    flags = rule.options.empty_indices or (False,) * size
    absent = [0]
    for missing in flags:  # in the order of the rule's text: True stands for an absent part
        if missing:
            absent[-1] += 1
        else:
            absent.append(0)
    return Reduction(size, origin, "" if spliced else rule.alias or origin, passes, tuple(absent) if any(flags) else ())


class Driver:
    """One run of the parser; `on_error(driver, position)` is told of every token that does not fit."""

    def __init__(self, tokens: list[Token], builder: Builder, on_error: Callable[[Driver, int], None]):
        self.tokens = tokens
        self.builder = builder
        self.on_error = on_error
        self.tables = tables()
        self.states = [self.tables.start]
        self.values: list = []
        self.statement = 0  # position of the first token of the current statement
        self._height = 1  # of the stack of states before that token
        self._indents: list[bool] = []  # whether each open indentation is part of the program
        self._methods: dict[str, Callable] = {}

    def run(self):
        """The value of the start rule, or None after a mistake."""
        position, failed = 0, False
        starts_statement = True
        while position < len(self.tokens):
            token = self.tokens[position]
            kind = token.type
            if starts_statement:
                self.statement = position
            if kind == "_DEDENT" and not self._indents.pop():
                position, starts_statement = position + 1, True
                continue
            if kind != "_BROKEN" and self._feed(token):
                if kind == "_INDENT":
                    self._indents.append(True)
                if starts_statement:
                    self._height = len(self.states) - 1
                starts_statement = kind in ("_NL", "_INDENT", "_DEDENT")
                position += 1
                continue
            failed = True
            if kind != "_BROKEN":
                self.on_error(self, position)
            without_lines = starts_statement and self.accepts("_INDENT")  # a loop or block, before this token
            if without_lines or not starts_statement:
                del self.states[self._height:], self.values[self._height - 1:]
            starts_statement = True
            if not without_lines:
                position = position + 1 if kind == "_DEDENT" else self._skip(position)
            elif kind == "_DEDENT":  # it is read again, as what follows the loop
                self._indents.append(True)
        return None if failed else self.values[-1]

    def accepts(self, kind: str) -> bool:
        """Whether a token of this kind could come next."""
        states = list(self.states)
        while True:
            action = self.tables.actions[states[-1]].get(kind)
            if not isinstance(action, Reduction):
                return action is not None
            if action.size:
                del states[-action.size:]
            states.append(self.tables.actions[states[-1]][action.origin])

    def _feed(self, token: Token) -> bool:
        """Reduce as far as the token allows, then shift it; False if it does not fit."""
        states, values, actions = self.states, self.values, self.tables.actions
        kind = token.type
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                return False
            if action.__class__ is int:
                states.append(action)
                values.append(token)
                return True
            size = action.size
            if action.passes:
                states[-1] = actions[states[-2]][action.origin]
                continue
            if size:
                parts = values[-size:]
                del states[-size:], values[-size:]
            else:
                parts = []
            values.append(self._reduce(action, parts))
            state = actions[states[-1]][action.origin]
            states.append(state)
            if state == self.tables.end and kind == "$END":
                return True

    def _reduce(self, rule: Reduction, parts: list):
        if not parts:
            return self._method(rule.method)(self.builder.source.span(0, 0))
        start, end = _start(parts[0]), _end(parts[-1])
        if rule.absent:
            parts = _with_absent(parts, rule.absent)
        if not rule.method:
            return _splice(parts)
        span = Span(self.builder.source, start, end)
        kept = [part for part in _splice(parts) if part.__class__ is not Token or part.type in KEPT_TOKENS]
        if rule.method == "statement":
            return kept[0]
        return self._method(rule.method)(span, *kept)

    def _method(self, name: str) -> Callable:
        method = self._methods.get(name)
        if method is None:
            method = self._methods[name] = getattr(self.builder, name)
        return method

    def _skip(self, position: int) -> int:
        """The position after the end of the statement, and into the indented lines below it, if there are any."""
        kinds = [token.type for token in self.tokens[position:position + 1]]
        if kinds == ["_INDENT"]:
            self._indents.append(False)
            return position + 1
        while self.tokens[position].type not in ("_NL", "_DEDENT", "$END"):
            position += 1
        if self.tokens[position].type == "_NL":
            position += 1
        elif self.tokens[position].type == "$END":
            return len(self.tokens)
        if self.tokens[position].type == "_INDENT":
            self._indents.append(False)
            position += 1
        return position


def _with_absent(parts: list, absent: tuple[int, ...]) -> list:
    result = [None] * absent[0]
    for part, missing in zip(parts, absent[1:]):
        result.append(part)
        result += [None] * missing
    return result


def _splice(parts: list) -> list:
    """Parts with the lists among them laid out flat. A list at the front is reused: long chains grow at its end."""
    if parts and parts[0].__class__ is list:
        flat, rest = parts[0], parts[1:]
    else:
        flat, rest = [], parts
    for part in rest:
        if part.__class__ is list:
            flat += part
        else:
            flat.append(part)
    return flat


def _start(part) -> int:
    while part.__class__ is list:
        part = part[0]
    return part.start_pos if part.__class__ is Token else part.span.start


def _end(part) -> int:
    while part.__class__ is list:
        part = part[-1]
    return part.end_pos if part.__class__ is Token else part.span.end
