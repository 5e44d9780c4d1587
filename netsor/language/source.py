"""Where text is: a source file, and spans of it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

SIZE_LIMIT = 4_000_000  # characters; larger tables belong in data files
INTERNAL_NAME = "<program>"

# Characters that change how a line looks without being seen: they could make a file read
# differently from what it computes (controls, zero-width characters, bidirectional overrides).
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|\r(?!\n)"
)


class Source:
    """The text of one program file, and the name by which messages call it."""

    def __init__(self, text: str, name: str = INTERNAL_NAME, path: Path | None = None):
        self.text = text.removeprefix("\ufeff")
        self.name = name
        self.path = path

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Offsets of the start and end of a line (counted from 1), without its line break."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        return start, end - 1 if end > start and self.text[end - 1] == "\r" else end

    def span(self, start: int, end: int) -> Span:
        return Span(self, start, end)

    def invisible_character(self) -> Span | None:
        """The first control, zero-width or bidirectional character, if there is one."""
        match = _INVISIBLE.search(self.text)
        return self.span(*match.span()) if match else None

    def unnormalised(self) -> Span | None:
        """The first place where the text is not in Unicode normal form C, if there is one."""
        if self.text.isascii() or unicodedata.is_normalized("NFC", self.text):
            return None
        for line in range(1, len(self._line_starts) + 1):
            start, end = self.line_span(line)
            text = self.text[start:end]
            if not unicodedata.is_normalized("NFC", text):
                return self.span(*_shrink(start, text))
        return self.span(0, 0)


def _shrink(start: int, text: str) -> tuple[int, int]:
    """The part of a line that normalisation changes."""
    normal = unicodedata.normalize("NFC", text)
    same_before = next((k for k, (a, b) in enumerate(zip(text, normal)) if a != b), min(len(text), len(normal)))
    return start + same_before, start + min(same_before + 2, len(text))


class Span(NamedTuple):
    """A stretch of a source: characters `start` up to, not including, `end`.

    `call` is where the block was called in which this stands, if it stands in one: the same text is elaborated once for each call.
    """

    source: Source
    start: int
    end: int
    call: Span | None = None

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"<{self.source.name}:{line}:{column} {self.text!r:.40}>"

    @property
    def text(self) -> str:
        return self.source.text[self.start:self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of a later one."""
        return Span(self.source, self.start, other.end)

    def at_end(self) -> Span:
        """The empty place right after this span."""
        return Span(self.source, self.end, self.end)
