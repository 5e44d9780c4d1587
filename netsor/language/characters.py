"""What to say about a character that is not part of the language."""

from __future__ import annotations

import unicodedata

from netsor.language.diagnostics import Diagnostic
from netsor.language.place import Place

LOOKALIKES = {
    "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=",
    "∼": "~", "“": '"', "”": '"', "„": '"', "∶": ":", "…": "..", "²": "^2", "³": "^3", "⊤": ".T", "ᵀ": ".T", "µ": "μ",
    "&": "and", "|": "or", "!": "not", "\u00a0": " ", "（": "(", "）": ")", "，": ",", "∈": "in", "'": '"', "{": "(",
    "}": ")",
}


def stray_character(place: Place) -> Diagnostic | None:
    if place.kind != "STRAY":
        return None
    char = str(place.token)
    if char == ";":
        return place.say("N101", "statements are not separated by `;`", "start a new line here instead")
    if char == "%":
        return place.say("N101", "`%` is not part of the language", hint="write mod(a, b) for the remainder")
    if char == "√":
        return place.say("N101", "`√` is not part of the language", hint="write sqrt(…)")
    if char == "\\":
        return place.say("N101", "`\\` is not part of the language",
                         hint="a line continues inside brackets: put the expression in ( )")
    if char in LOOKALIKES:
        name = "a no-break space" if char == "\u00a0" else f"`{char}`"
        means = "an ordinary space" if char == "\u00a0" else f"`{LOOKALIKES[char]}`"
        return place.say("N101", f"{name} (U+{ord(char):04X}) is not part of the language", f"write {means}")
    if unicodedata.combining(char) or not char.isprintable():
        name = unicodedata.name(char, "a character without a name").lower()
        return place.say("N101", f"U+{ord(char):04X} ({name}) is not part of the language")
    hint = "names consist of Latin and Greek letters, the digits 0-9 and _" if char.isalnum() else ""
    shown = f"`{char}`" if char.isascii() else f"`{char}` (U+{ord(char):04X})"
    return place.say("N101", f"{shown} is not part of the language", hint=hint)
