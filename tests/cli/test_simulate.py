"""``netsor simulate``: estimates at one width, and the draws."""

import numpy as np
import pytest


def test_the_text(cli, relu):
    outcome = cli("simulate", relu, "--width", 16, "--runs", 2000)
    assert (outcome.status, outcome.err) == (0, "")
    assert "n = 16 with N = 2" in outcome.out and "by 2,000 runs at width 16" in outcome.out
    assert "2,000 runs, seed 0" in outcome.out and "z[b]   b = 1..2   vector, estimated" in outcome.out


def test_json_has_what_run_reports(cli, attention):
    found = cli("simulate", attention, "--width", 16, "--runs", 3000, "--json").json
    p = found["variables"]["p"]
    assert set(p) == {"kind", "axes", "mean", "var", "cov", "excess_kurtosis"} and p["axes"] == {"a": 2, "i": 4, "j": 4}
    exact = 1 + 2 / 16 * np.eye(4)  # five errors, 32 numbers: false alarms below 2e-5
    assert np.all(np.abs(np.array(p["var"]["value"]) - exact) < 5 * np.array(p["var"]["error"]))
    assert found["width"] == 16 and found["runs"] == 3000


def test_draws_are_written(cli, relu, tmp_path):
    file = tmp_path / "draws.npz"
    outcome = cli("simulate", relu, "--width", 16, "--runs", 200, "--coordinates", 3, "--out", file)
    assert outcome.out.endswith(f"draws written to {file}\n")
    with np.load(file) as arrays:
        assert list(arrays) == ["z"] and arrays["z"].shape == (200, 2, 3)


def test_huge_requests_are_refused(cli, relu):
    assert "error[N521]" in cli("simulate", relu, "--runs", 10**12).err
    assert "error[N523]" in cli("simulate", relu, "--width", 4, "--coordinates", 5).err
    assert cli("simulate", relu, "--width", 0).status == 2


HALVES = "width n, m = n/4\ninput h ~ N(0, 1)\nmatrix W : (m, n) ~ N(0, 1/n)\nx = W @ relu(h)\noutput x\nexpect mean(x) = 0 within 1\n"


@pytest.mark.parametrize("command, width", [("simulate", 1), ("compare", "1,8"), ("test", "1,8")])
def test_a_width_that_vanishes_is_a_mistake_of_the_request_with_its_place(cli, program, command, width):
    outcome = cli(command, program(HALVES), "--width", width)
    assert outcome.status == 1 and "error[N523]: at n = 1 the width m = 1/4*n would be 0" in outcome.err
    assert "^ no vector is that short" in outcome.err and "hint: ask for a width of 3 at least" in outcome.err


@pytest.mark.parametrize("command, width", [("simulate", 8), ("compare", "8,16")])
def test_coordinates_are_those_of_the_output_s_own_width(cli, program, command, width):
    outcome = cli(command, program(HALVES), "--width", width, "--coordinates", 3)
    assert outcome.status == 1 and "error[N523]: vectors of width m = 2, such as x, do not have 3 coordinates" in outcome.err


@pytest.mark.parametrize("option", ["--width", "--runs"])
def test_numbers_of_thousands_of_digits(cli, relu, option):
    assert "error[N521]" in cli("simulate", relu, option, "9" * 4000).err


def test_what_is_not_finite_is_said(cli, program, tmp_path):
    file = program("width n\ninput h ~ N(0, 1)\nx = h / sqrt(avg((h - avg(h))^2))\noutput x\n")
    outcome = cli("simulate", file, "--width", 1, "--runs", 100, "--plot", tmp_path / "simulation.svg")
    assert (outcome.status, outcome.err) == (0, "") and "note: x: 100 of 100 runs at width 1 are not finite" in outcome.out
    outcome = cli("compare", file, "--width", 1, "--runs", 100, "--plot", tmp_path / "comparison.svg")
    assert (outcome.status, outcome.err) == (1, "") and "note: x: 100 of 100 runs at width 1 are not finite" in outcome.out


def test_sizes_of_further_widths_are_shown(cli, program):
    assert "\nn = 16, m = 1/4*n = 4\n" in cli("simulate", program(HALVES), "--width", 16, "--runs", 100).out
