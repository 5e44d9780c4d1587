"""How numbers are written: as many digits as are known."""

import math

import pytest

from netsor.cli.text.numbers import number
from netsor.cli.text.table import table


@pytest.mark.parametrize(
    "value, error, scale, text",
    [
        (0.391974, 0.000021, 0, "0.39197(3)"),
        (1.0, 0.0, 0, "1"),
        (1 / 3, 0.0, 0, "0.3333333333"),
        (2.0, 3e-15, 0, "2"),
        (-3e-17, 2e-15, 1.0, "0"),
        (3e-17, 0.0, 1.0, "3e-17"),
        (0.0, 0.0, 0, "0"),
        (-0.0, 0.0, 0, "0"),
        (1e-5, 2e-5, 0, "1(2)e-5"),
        (1e-6, 2e-5, 0, "0.00000(2)"),
        (3.14e-7, 2e-9, 0, "3.14(2)e-7"),
        (1234.5, 57.0, 0, "1234(57)"),
        (math.inf, 0.0, 0, "inf"),
        (math.nan, 0.0, 0, "undefined"),
        (1.5, math.nan, 0, "1.5(?)"),
    ],
)
def test_a_number_shows_the_digits_that_are_known(value, error, scale, text):
    assert number(value, error, scale) == text


def test_columns_of_numbers_are_aligned_at_the_point_and_columns_of_words_at_the_left():
    assert table(["x", "word"], [["1.5(1)", "ab"], ["-12.25", "c"], ["3", "-"]]) == [
        "x          word",
        "  1.5(1)   ab",
        "-12.25     c",
        "  3        -",
    ]
