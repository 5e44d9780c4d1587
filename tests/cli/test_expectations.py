"""``netsor test``: what passed, consistent, failed and skipped mean."""

import numpy as np
import pytest

from netsor.cli.verdicts import judge
from netsor.expectation import Estimate
from netsor.ir.expressions import Index, Num, Range
from netsor.ir.program import Expectation, Program

RELU = "width n\nindex b in 1..2\ninput h[b] ~ N(0, b)\nmatrix W ~ N(0, 2/n)\nz[b] = W @ relu(h[b])\noutput z\n"


def verdict(difference, error, tolerance, shape=()) -> str:
    indices = tuple(Index(f"i{k}", Range(1, size)) for k, size in enumerate(shape))
    expectation = Expectation("mean", (), Num(2), Num(tolerance), indices)
    program = Program("p", "n", {"n": 1}, [], [], [], [], [], {})
    return judge(expectation, Estimate(np.full(shape, 2.0) + difference, error, "16 x 8 samples"), program).verdict


@pytest.mark.parametrize(
    "difference, error, tolerance, expected",
    [
        (0.0, 0.0, 1, "passed"),
        (0.9, 0.0, 1, "passed"),
        (1.1, 0.0, 1, "failed"),
        (0.9, 0.25, 1, "passed"),
        (1.9, 0.25, 1, "passed"),
        (2.1, 0.25, 1, "failed"),
        (0.0, 0.26, 1, "consistent"),
        (2.0, 0.26, 1, "consistent"),
        (2.1, 0.26, 1, "failed"),
        (np.nan, 0.0, 1, "failed"),
        (0.0, np.nan, 1, "failed"),
        (0.0, np.inf, 1, "consistent"),
    ],
)
def test_the_three_verdicts(difference, error, tolerance, expected):
    assert verdict(difference, error, tolerance) == expected


def test_the_worst_value_of_an_index_decides():
    assert verdict(np.array([0.0, 3.0]), 0.0, 1, (2,)) == "failed"
    assert verdict(np.array([0.0, 0.5]), np.array([0.0, 0.5]), 1, (2,)) == "consistent"


def test_lines_that_hold(cli, program):
    outcome = cli(
        "test", program(RELU + "expect cov(z[1], z[1]) = 1 within 1e-9\nexpect cov(z[b], z[b]) = b within 1e-9\n")
    )
    assert outcome.status == 0
    assert "passed      cov(z[1], z[1]) = 1 within 1e-9\n                found 1\n" in outcome.out
    assert outcome.out.endswith("2 expectations in 1 file: 2 passed\n")


def test_a_line_that_fails_says_by_how_much_and_where(cli, program):
    outcome = cli("test", program(RELU + "expect cov(z[b], z[b]) = 1 within 0.1\n"))
    assert outcome.status == 1
    assert (
        "failed      cov(z[b], z[b]) = 1 within 0.1\n                found 2 at b=2, expected 1: off by 1, more than 0.1\n"
        in outcome.out
    )


def test_a_line_that_needs_more_samples_says_how_many(cli, program, attention):
    path = program(attention.read_text() + "expect cov(y[1], y[1]) = 0.391971443576 within 1e-9\n")
    outcome = cli("test", path, "--samples", 256)
    assert outcome.status == 0 and "consistent" in outcome.out
    assert "2.5e-10 is needed, about" in outcome.out and "times the samples" in outcome.out


def test_under_set_expectations_are_skipped_and_said_so(cli, attention):
    outcome = cli("test", attention, "--set", "s=3")
    assert outcome.status == 0 and "skipped: s set from outside" in outcome.out and "1 skipped" in outcome.out


def test_a_file_without_expectations_says_so(cli, relu):
    outcome = cli("test", relu)
    assert outcome.status == 0 and "states no expectations" in outcome.out


def test_a_directory_is_searched_and_a_broken_file_does_not_stop_it(cli, program, tmp_path):
    (tmp_path / "inner").mkdir()
    program("width n\nx = \n", "a.netsor")
    program(RELU + "expect mean(z[1]) = 0 within 1e-9\n", "inner/b.netsor")
    outcome = cli("test", tmp_path)
    assert outcome.status == 1 and "a.netsor   cannot be tested" in outcome.out and "error[N1" in outcome.err
    assert outcome.out.endswith("1 expectation in 2 files: 1 passed, 1 file with errors\n")


def test_an_empty_directory_is_a_usage_error(cli, tmp_path):
    outcome = cli("test", tmp_path)
    assert outcome.status == 2 and "no .netsor files" in outcome.err


def test_json(cli, program):
    path = program(RELU + "expect cov(z[b], z[b]) = b within 1e-9\nexpect mean(z[1]) = 1 within 0.5\n")
    outcome = cli("test", path, "--json")
    assert outcome.status == 1
    found = outcome.json
    assert found["summary"] == {"passed": 1, "consistent": 0, "failed": 1, "skipped": 0}
    first, second = found["files"][0]["expectations"]
    assert (first["text"], first["line"], first["verdict"], first["indices"]) == (
        "cov(z[b], z[b]) = b within 1e-9",
        7,
        "passed",
        {"b": 2},
    )
    assert first["expected"] == [1.0, 2.0] and first["found"]["value"] == pytest.approx([1, 2], abs=1e-12)
    assert second["verdict"] == "failed" and second["tolerance"] == 0.5


def test_json_of_a_broken_file(cli, program):
    found = cli("test", program("width n\nx = \n"), "--json").json
    assert found["files"][0]["error"][0]["code"].startswith("N1")
