"""Where text is, and files that are no programs."""

import pytest

from netsor.language.diagnostics import NetsorError
from netsor.language.parse import parse, read
from netsor.language.source import SIZE_LIMIT, Source


def codes(error) -> list[str]:
    return [diagnostic.code for diagnostic in error.value.diagnostics]


def test_lines_and_columns_count_from_one():
    source = Source("width n\nx = 1\n")
    assert source.position(0) == (1, 1)
    assert source.position(7) == (1, 8)  # the line break belongs to its line
    assert source.position(8) == (2, 1)
    assert source.position(len(source.text)) == (3, 1)


def test_windows_line_breaks_are_no_part_of_a_line():
    source = Source("width n\r\nx = y\r\n")
    assert [source.text[slice(*source.line_span(line))] for line in (1, 2, 3)] == ["width n", "x = y", ""]
    assert [type(each).__name__ for each in parse(source).statements] == ["Width", "Definition"]


def test_byte_order_mark_is_not_part_of_the_text():
    assert Source("\ufeffwidth n").text == "width n"


def test_line_breaks_alone_end_lines():
    assert len(parse("x = 1\ny = 2").statements) == 2
    with pytest.raises(NetsorError) as error:
        parse("x = 1\ry = 2")
    assert codes(error) == ["N116"]


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\u200b", "\u202e", "\u2066", "\x7f", "\ufeff"])
def test_invisible_characters_are_refused_even_in_comments(character):
    with pytest.raises(NetsorError) as error:
        parse(f"width n  # {character}\nx = 1\n")
    assert codes(error) == ["N116"]
    assert error.value.diagnostics[0].span.column == 12
    assert character not in str(error.value)  # the message itself must not do to a terminal what the file would


def test_names_are_compared_as_unicode_says():
    with pytest.raises(NetsorError) as error:
        parse("x = 1\na\u0308 = 2\n")
    assert codes(error) == ["N117"]
    assert error.value.diagnostics[0].span.line == 2


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", '"""only a docstring"""\n', "   \n\t\n"])
def test_empty_programs(text):
    with pytest.raises(NetsorError) as error:
        parse(text)
    assert codes(error) == ["N118"]


def test_files_that_cannot_be_read(tmp_path):
    missing, binary = tmp_path / "missing.netsor", tmp_path / "binary.netsor"
    binary.write_bytes(b"width n\n\xff\xfe\x00")
    for path, code in ((missing, "N119"), (tmp_path, "N119"), (binary, "N115")):
        with pytest.raises(NetsorError) as error:
            read(path)
        assert codes(error) == [code]
    assert "line 2, is 0xff" in str(error.value)


def test_a_program_that_is_too_long_is_refused_before_it_is_read():
    with pytest.raises(NetsorError) as error:
        parse("#" * (SIZE_LIMIT + 1))
    assert codes(error) == ["N114"]
