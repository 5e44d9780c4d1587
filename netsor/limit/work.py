"""What a computation would take, known before it starts."""

from __future__ import annotations


class TooMuchWork(Exception):
    """A computation would take unreasonably long.  ``hint`` says what would take less."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.hint = hint
