"""Every program that is shipped runs, gives the numbers that it states, and gives them again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import netsor
from netsor.compare.expectations import judge_expectations
from netsor.compare.result import AGREES, DISAGREES
from netsor.ir.evaluate import Evaluator
from netsor.limit.functions import function

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").glob("*.netsor"))
each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
SAMPLES = 2**13
WIDTHS, RUNS = (64, 128, 256), 8_000


@cache
def limit(path: Path):
    return netsor.load(path).limit(samples=SAMPLES)


@each_program
def test_the_program_gives_the_numbers_it_states(path):
    """|found - expected| <= tolerance + 4 standard errors, from 16 randomisations.

    A true statement fails with probability 0.0012 at most (Student's t with 15 degrees of freedom); the seed is fixed, so that the
    test either always fails or never.  Wrong numbers are seen from about 8 errors and the tolerance on.
    """
    result = limit(path)
    assert result.expectations, "a program states what it must give"
    evaluator = Evaluator(function, dict.fromkeys(result.program.infinite, np.inf))
    for expectation, found in result.expectations:
        expected, tolerance = (evaluator.array(e, expectation.indices) for e in (expectation.value, expectation.tolerance))
        assert np.all(np.abs(found.value - expected) <= tolerance + 4 * found.error), f"{expectation.span.text}: {found}"


@pytest.mark.slow
@each_program
def test_the_default_number_of_samples_resolves_the_tolerances(path):
    """4 standard errors are within the tolerance, so that `netsor test` says "passed"."""
    result = netsor.load(path).limit()
    evaluator = Evaluator(function, dict.fromkeys(result.program.infinite, np.inf))
    for expectation, found in result.expectations:
        tolerance = evaluator.array(expectation.tolerance, expectation.indices)
        assert np.all(4 * found.error <= tolerance), f"{expectation.span.text}: {found}"


@pytest.mark.slow
@each_program
def test_the_program_gives_them_at_finite_width(path):
    """Extrapolated from three widths; with all lines true any line of all programs fails with probability below 0.01.

    What a pass is worth is printed by ``netsor test --width``; a deviation of 2 (in the kurtosis of heavy tails)
    or three times what is expected is the least that must be seen.
    """
    program = netsor.load(path).ir
    if program.infinite:
        pytest.skip("an infinite axis has no finite width")
    for result in judge_expectations(program, WIDTHS, RUNS, seed=1):
        line, place = result.expectation.span.text, result.decisive
        assert result.verdict != DISAGREES, f"{line}: {place}"
        assert result.verdict != AGREES or result.smallest_detectable < max(2.0, 3 * abs(place.limit)), f"{line}: this says nothing"


@each_program
def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(path):
    first, second = limit(path), netsor.load(path).limit(samples=SAMPLES, workers=1)
    for name, variable in first.items():
        for field in ("mean", "var", "excess_kurtosis", "cov"):
            one, other = getattr(variable, field), getattr(second[name], field)
            np.testing.assert_array_equal(one.value, other.value, err_msg=f"{field} of {name}")
            np.testing.assert_array_equal(one.error, other.error, err_msg=f"error of {field} of {name}")


@each_program
def test_the_program_says_what_it_is_and_where_it_comes_from(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert "Source:" in text.split('"""')[1]
