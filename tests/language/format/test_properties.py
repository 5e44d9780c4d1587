"""What formatting never does: change the tree, lose a comment, or find something to do in its own output."""

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_layout import Writer

from netsor.language.format import format_source, same_tree
from netsor.language.format.reading import comments_of
from netsor.language.parse import parse, read
from netsor.language.source import Source

PROGRAMS = sorted((Path(__file__).parents[3] / "programs").rglob("*.netsor"))


def unbroken_tokens(text: str) -> list[str]:
    """What is written, without layout, comments and line ends."""
    from netsor.language.grammar import parser

    return [" ".join(token.split()) for token in parser().lex(text) if token.type != "_NL"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_keep_their_meaning_and_comments(path):
    source = read(path)
    text = format_source(source)
    assert format_source(Source(text)) == text
    assert same_tree(parse(source), parse(text)) and comments_of(source) == comments_of(Source(text))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_random_programs_keep_their_meaning_and_comments(seed):
    writer = Writer(Random(seed))
    written = writer.program()
    text = format_source(Source(written))
    assert unbroken_tokens(text) == unbroken_tokens(written)
    assert same_tree(parse(Source(written)), parse(text))
    assert re.findall(r"#[ \t]?\d+ \(x = \[1  é", text) == writer.comments
    assert format_source(Source(text)) == text
    assert not any(line != line.rstrip() or "\r" in line for line in text.split("\n"))


def test_trees_that_differ_are_told_apart():
    """One for each place where a node can differ: kind, name, number, operator, an absent part, a number of parts."""
    texts = ["x = a + b", "x = a - b", "x = a * b", "x = a", "x = c", "x = 1", "x = 1.0", "x : H = a", "x = a < b", "x = a <= b",
             "x = f(a)", "x = f(a, b)", "y = a", "x = (a + b)*c", "x = a + (b*c)", '"""d"""\nx = a', "x = W.T @ a", "x = W @ a"]
    for k, one in enumerate(texts):
        for m, other in enumerate(texts):
            assert same_tree(parse(f"{one}\n"), parse(f"{other}\n")) == (k == m), (one, other)
    assert same_tree(parse("x = (a)+ b\n"), parse("# c\nx = a + (b)\n"))
