"""The parser tables of grammar.lark, kept on disk because building them takes longer than a small program."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from lark import Lark
from lark import __version__ as lark_version
from lark.lark import PostLex

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
MISTAKEN_TOKENS = ("BAD_NUMBER", "OPEN_DOCSTRING", "OPEN_STRING", "STRAY")


class _KeepMistakes(PostLex):
    """Tells lark to keep the terminals that no rule uses; the layout itself is done in layout.py."""

    always_accept = MISTAKEN_TOKENS

    def process(self, stream):
        return stream


def build(grammar: str) -> Lark:
    """The parser of a grammar text; raises lark's GrammarError on any conflict."""
    return Lark(grammar, parser="lalr", lexer="basic", postlex=_KeepMistakes(), keep_all_tokens=True,
                maybe_placeholders=True)


@cache
def parser() -> Lark:
    """The parser of the language, from the cache beside the byte code if that is of the same grammar."""
    grammar = GRAMMAR_FILE.read_text(encoding="utf-8")
    key = hashlib.sha256(f"{grammar}{lark_version}{sys.version}".encode()).hexdigest()[:16]
    cache_file = GRAMMAR_FILE.parent / "__pycache__" / f"grammar-{key}.tables"
    try:
        with open(cache_file, "rb") as file:
            return Lark.load(file)
    except Exception:  # absent, unreadable or damaged: whatever the reason, the grammar itself is at hand
        fresh = build(grammar)
    _save(fresh, cache_file)
    return fresh


def _save(fresh: Lark, cache_file: Path) -> None:
    """Write the tables in one step, so that another process never reads half a file."""
    try:
        cache_file.parent.mkdir(exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=cache_file.parent)
        with os.fdopen(handle, "wb") as file:
            fresh.save(file)
        os.replace(temporary, cache_file)
    except OSError:
        pass  # a read-only installation works too, only slower


@cache
def reserved_words() -> dict[str, str]:
    """Each reserved word and the name of its token."""
    return {terminal.pattern.value: terminal.name for terminal in parser().terminals
            if terminal.pattern.type == "str" and terminal.pattern.value.isalpha()}
