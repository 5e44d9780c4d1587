"""What can be said about a place in a program: the only way netsor tells a user that something is wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from netsor.language.source import Span

LINE_WIDTH = 110  # longer source lines are cut around the place a message is about
Paint = Callable[[str, str], str]


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that belongs to the story, and what it has to do with it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to tell the user.

    `code` is listed in codes.md; `message` says what is wrong in one sentence without a full stop; `span` is the
    smallest place at fault (None for what has no place, such as a command-line option); `label` is written next to
    the caret; `secondary` are other places; `hint` is given only where following it would work.
    """

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    secondary: tuple[Label, ...] = ()
    hint: str = ""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return render(self)

    @property
    def other_places(self) -> list[Label]:
        """The secondary labels, then the calls of the blocks in which the place stands, each place once."""
        calls = calls_around(self.span)[1:] if self.span is not None else []
        return [*self.secondary, *(Label(call, "in the block called here") for call in dict.fromkeys(calls))]


def calls_around(span: Span) -> list[Span]:
    """The place itself and the calls of the blocks in which it stands, from the inside out."""
    found = []
    around: Span | None = span
    while around is not None:
        found.append(around._replace(call=None))
        around = around.call
    return found


class NetsorError(Exception):
    """The program (or its data, or its options) is at fault: one diagnostic for each independent mistake."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]):
        single = isinstance(diagnostics, Diagnostic)
        self.diagnostics = [diagnostics] if single else in_reading_order(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(map(render, self.diagnostics))


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Without repetitions, those without a place first, the others in the order of the text."""
    unique = dict.fromkeys(diagnostics)
    return sorted(unique, key=lambda each: each.span.start if each.span else -1)


def plain(text: str, role: str) -> str:
    return text


def render(diagnostic: Diagnostic, paint: Paint = plain) -> str:
    """The message as the user sees it.

    `paint(text, role)` may add colour; the roles are the severities, "message", "gutter", "caret", "secondary", "hint".
    """
    severity = diagnostic.severity.value
    lines = [paint(f"{severity}[{diagnostic.code}]", severity) + paint(f": {diagnostic.message}", "message")]
    labels = diagnostic.other_places
    if diagnostic.span is not None:
        labels.insert(0, Label(diagnostic.span, diagnostic.label))
    gutter = max((len(str(label.span.line)) for label in labels), default=1)
    bar = paint(" " * gutter + " |", "gutter")
    previous = None
    for number, label in enumerate(labels):
        span = label.span
        if number == 0 or span.source is not previous.source:
            arrow = paint(" " * gutter + "-->", "gutter")
            lines += [f"{arrow} {span.source.name}:{span.line}:{span.column}", bar]
        primary = number == 0 and diagnostic.span is not None
        excerpt, before, marked = _excerpt(span)
        same_line = previous is not None and (span.source, span.line) == (previous.source, previous.line)
        if not same_line or len(excerpt) > LINE_WIDTH:
            lines.append(paint(f"{span.line:>{gutter}} |", "gutter") + f" {excerpt}".rstrip())
        marker = ("^" if primary else "-") * marked + (f" {label.text}" if label.text else "")
        lines.append(f"{bar} {' ' * before}" + paint(marker, "caret" if primary else "secondary"))
        previous = span
    if diagnostic.hint:
        first, *rest = diagnostic.hint.splitlines()
        indent = " " * gutter + " = hint: "
        lines += [indent + paint(first, "hint"), *(" " * len(indent) + paint(line, "hint") for line in rest)]
    return "\n".join(lines)


def _excerpt(span: Span) -> tuple[str, int, int]:
    """The source line of a span as shown, with the columns before and under the mark."""
    start, end = span.source.line_span(span.line)
    mark_end = max(span.start, min(span.end, end))
    cut_before = cut_after = ""
    if end - start > LINE_WIDTH:
        window_start = max(start, min(span.start - LINE_WIDTH // 3, end - LINE_WIDTH))
        window_end = min(end, window_start + LINE_WIDTH)
        cut_before = "…" if window_start > start else ""
        cut_after = "…" if window_end < end else ""
        start, end, mark_end = window_start, window_end, min(mark_end, window_end)
    text = span.source.text
    before = cut_before + _visible(text[start:span.start])
    marked = _visible(text[span.start:mark_end])
    after = _visible(text[mark_end:end]) + cut_after
    return before + marked + after, _columns(before), max(1, _columns(marked))


_UNSAFE = re.compile("[^\\S \n]|[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def _visible(text: str) -> str:
    """What a terminal can show: tabs as spaces, what is invisible or could move the cursor as a placeholder."""
    return _UNSAFE.sub("\ufffd", text.replace("\t", "    "))


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)
