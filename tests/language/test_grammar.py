"""The grammar: no conflicts, tables kept, fast to start."""

import logging
import subprocess
import sys
import time

from lark import Lark

from netsor.language import grammar


def test_no_conflict_is_resolved_silently(caplog):
    # debug makes lark report each shift/reduce conflict; strict would need another package and mind the terminals of mistakes
    logger = logging.getLogger("lark")
    level, logger.propagate = logger.level, True
    try:
        logger.setLevel(logging.DEBUG)
        caplog.set_level(logging.DEBUG, "lark")
        Lark(grammar.GRAMMAR_FILE.read_text(encoding="utf-8"), parser="lalr", lexer="basic", debug=True,
             postlex=grammar._KeepMistakes(), keep_all_tokens=True)
    finally:
        logger.setLevel(level)
    assert not [record.getMessage() for record in caplog.records if "onflict" in record.getMessage()]


def test_reserved_words_are_those_of_the_language_reference():
    assert set(grammar.reserved_words()) == set(
        "width param index data const input matrix def block import output expect return for in if else and or not like within".split())


def test_damaged_tables_are_made_anew(tmp_path, monkeypatch):
    copy = tmp_path / "grammar.lark"
    copy.write_text(grammar.GRAMMAR_FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(grammar, "GRAMMAR_FILE", copy)
    build = grammar.parser.__wrapped__
    build()
    (tables,) = (tmp_path / "__pycache__").glob("grammar-*.tables")
    tables.write_bytes(b"not tables")
    assert [token.type for token in build().lex("width n")] == ["WIDTH", "NAME"]
    assert tables.stat().st_size > 1000


def test_parsing_starts_within_a_fraction_of_a_second():
    code = "from netsor.language.parse import parse; parse('width n\\nx = 1\\n')"
    subprocess.run([sys.executable, "-c", code], check=True)  # fills the cache
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    assert time.perf_counter() - start < 2  # 0.25 s on an idle machine, most of it Python and lark
