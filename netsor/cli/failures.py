"""Exceptions as diagnostics, and diagnostics as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from netsor.language.diagnostics import Diagnostic, NetsorError, render

COLOURS: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "note": {"fg": "cyan", "bold": True},
    "message": {"bold": True},
    "gutter": {"fg": "blue"},
    "caret": {"fg": "red", "bold": True},
    "secondary": {"fg": "blue", "bold": True},
    "hint": {"fg": "green"},
}


def diagnostics_of(error: BaseException) -> list[Diagnostic]:
    """What there is to say about an exception: the user's mistakes as they are, anything else as a bug of ours."""
    from netsor.ir.labelled import TooLarge
    from netsor.plugins import PluginError

    if isinstance(error, NetsorError):
        return error.diagnostics
    if isinstance(error, PluginError):
        return [Diagnostic("N520", str(error))]
    if isinstance(error, (MemoryError, TooLarge)):
        needed = f": {_one_line(error)}" if str(error) else ""
        return [
            Diagnostic(
                "N521",
                f"this takes more memory than there is{needed}",
                hint="ask for fewer --samples, or for some of the outputs only (--output NAME)",
            )
        ]
    what = type(error).__name__ + (f": {_one_line(error)}" if str(error) else "")
    return [
        Diagnostic(
            "N901",
            f"this is a bug in netsor: {what}",
            hint=(
                "please report it with the program and the command line; --debug shows the traceback that helps to find it"
            ),
        )
    ]


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:299] + "…"


def report(diagnostics: Iterable[Diagnostic], *, as_json: bool = False) -> None:
    """Text on stderr, or one JSON object on stdout."""
    diagnostics = list(diagnostics)
    if as_json:
        click.echo(
            json.dumps({"error": [as_object(each) for each in diagnostics]}, ensure_ascii=False, allow_nan=False)
        )
        return
    click.echo("\n\n".join(render(each, paint) for each in diagnostics), err=True)


def paint(text: str, role: str) -> str:
    """Colour for a terminal; click takes it away where the output is none."""
    return click.style(text, **COLOURS[role]) if role in COLOURS and text else text


def as_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic for ``--json``; its end is the first character after the place."""
    found: dict[str, Any] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": None,
        "line": None,
        "column": None,
        "hint": diagnostic.hint or None,
    }
    if diagnostic.span is not None:
        found |= _place(diagnostic.span)
    if diagnostic.label:
        found["label"] = diagnostic.label
    if others := diagnostic.other_places:
        found["secondary"] = [{**_place(label.span), "text": label.text} for label in others]
    return found


def _place(span) -> dict[str, Any]:
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
    }
