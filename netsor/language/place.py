"""The place where the parser stopped, as seen by those who explain it (mistakes.py, characters.py)."""

from __future__ import annotations

from functools import cached_property

from lark import Token

from netsor.language.diagnostics import Diagnostic, Label
from netsor.language.driver import Driver
from netsor.language.layout import CLOSER
from netsor.language.source import Span

LINE_ENDS = ("_NL", "_DEDENT", "$END")


class Place:
    """Where the parser stopped, and what stands around it."""

    def __init__(self, driver: Driver, position: int):
        self.driver = driver
        self.tokens = driver.tokens
        self.position = position
        self.token = self.tokens[position]
        self.kind = self.token.type
        self.before = self.tokens[position - 1] if position > driver.statement else None
        self.first = self.tokens[driver.statement]

    def accepts(self, *kinds: str) -> bool:
        return any(self.driver.accepts(kind) for kind in kinds)

    def span(self, token: Token) -> Span:
        return Span(self.driver.builder.source, token.start_pos, token.end_pos)

    @cached_property
    def here(self) -> Span:
        """The token, or the place after the last one where the line ended too early."""
        if self.kind in LINE_ENDS and self.before is not None:
            return self.span(self.before).at_end()
        return self.span(self.token)

    @property
    def ends(self) -> bool:
        return self.kind in LINE_ENDS

    @cached_property
    def statement(self) -> list[Token]:
        """The tokens of the statement, to the end of its line."""
        end = self.position
        while self.tokens[end].type not in LINE_ENDS:
            end += 1
        return self.tokens[self.driver.statement:end]

    @cached_property
    def brackets(self) -> list[Token]:
        """The brackets that are open here."""
        opened: list[Token] = []
        for token in self.tokens[self.driver.statement:self.position]:
            if token.type in CLOSER:
                opened.append(token)
            elif token.type in CLOSER.values() and opened:
                opened.pop()
        return opened

    def has(self, kind: str, text: str = "") -> bool:
        return any(token.type == kind and (not text or token == text) for token in self.statement)

    def text(self, start: Token, end: Token) -> str:
        return " ".join(self.driver.builder.source.text[start.start_pos:end.end_pos].split())

    def say(self, code: str, message: str, label: str = "", hint: str = "", at: Span | None = None,
            secondary: tuple[Label, ...] = ()) -> Diagnostic:
        return Diagnostic(code, message, at or self.here, label, secondary, hint)
