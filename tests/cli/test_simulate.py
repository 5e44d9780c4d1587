"""``netsor simulate``: estimates at one width, and the draws."""

import numpy as np


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
    assert "error[N504]" in cli("simulate", relu, "--width", 4, "--coordinates", 5).err
    assert cli("simulate", relu, "--width", 0).status == 2
