"""``netsor compare``: text, JSON, exit status, refusals, Ctrl-C."""

import re

import pytest

from netsor.cli.progress import ProgressDisplay

WIDTHS = ("--width", "16,32,64", "--runs", 2000)


def test_the_text_says_what_decides(cli, relu):
    outcome = cli("compare", relu, *WIDTHS)
    assert (outcome.status, outcome.err) == (0, "")
    assert "relu: One layer." in outcome.out and "n → ∞ with N = 2" in outcome.out
    assert "agrees  with the limit within noise: " in outcome.out and "false-alarm rate 0.0001" in outcome.out
    assert re.search(r"2,000 runs at each width, a limit with errors up to \de-1\d, seed 0", outcome.out)
    for statistic in ("variance", "excess kurtosis", "covariance", "cf real 2/sd", "distribution"):
        assert re.search(rf"^    z +{statistic} ", outcome.out, re.MULTILINE)


def test_a_limit_with_errors_is_not_called_exact(cli, program):
    text = "width n\ninput h, g, k ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nz = W @ tanh(h*g*k + h)\noutput z\n"
    outcome = cli("compare", program(text), "--width", "16,32", "--runs", 200)
    assert "200 runs at each width, a limit with errors up to 0.000" in outcome.out


def test_json_has_every_statistic_at_every_width(cli, relu):
    found = cli("compare", relu, *WIDTHS, "--controls", "--json", "--seed", 3).json
    assert found["verdict"] == "agrees" and found["widths"] == [16, 32, 64] and found["seed"] == 3
    assert all(len(own["widths"]) == 3 for own in found["statistics"])
    assert [control["control"] for control in found["controls"]] == [
        "matched Gaussian", "scale wrong by 3 %", "shared matrices as if independent"]
    assert found["seconds"] > 0 and found["netsor"]


def test_controls_that_cannot_be_rejected_say_why(cli, relu):
    out = cli("compare", relu, *WIDTHS, "--controls").out
    assert "control: matched Gaussian   not rejected\n    it is the limit itself in all that is measured" in out
    assert "omitted: no matrix is used twice" in out and "runs are needed" in out


def test_a_limit_that_is_off_has_exit_status_1(cli, relu, monkeypatch):
    """Draws come from a program whose variance is 20 % larger."""
    import netsor
    from netsor.compare import drawing

    other = netsor.load(relu).ir
    text = relu.read_text().replace("2/n", "2.4/n")
    other = netsor.parse(text).ir
    original = drawing.sample
    monkeypatch.setattr(drawing, "sample", lambda program, *args, **options: original(other, *args, **options))
    outcome = cli("compare", relu, *WIDTHS)
    assert outcome.status == 1 and "disagrees  with the limit: " in outcome.out
    assert re.search(r"variance of z.*, by extrapolation: 1\.\d+\(\d\), the limit is 1, z = ", outcome.out)


def test_one_output_of_several(cli, attention):
    found = cli("compare", attention, *WIDTHS, "--output", "y", "--samples", 1024, "--json").json
    assert {own["output"] for own in found["statistics"]} == {"y"}


@pytest.mark.parametrize("options, words", [
    (("--width", "16,x"), "not a list of widths"), (("--width", "0"), "not a list of widths"), (("--width", ""), "list of widths"),
    (("--runs", 5), "5 is not in the range"), (("--coordinates", 0), "0 is not in the range"),
])
def test_a_bad_command_line_has_exit_status_2(cli, relu, options, words):
    outcome = cli("compare", relu, *options)
    assert outcome.status == 2 and words in outcome.err


@pytest.mark.parametrize("options, code", [
    (("--runs", 10**12), "N521"), (("--width", 10**9), "N521"), (("--coordinates", 100), "N523"), (("--output", "w"), "N220")])
def test_what_is_out_of_reach_is_refused_at_once(cli, relu, options, code):
    outcome = cli("compare", relu, *options)
    assert outcome.status == 1 and f"error[{code}]" in outcome.err and outcome.out == ""


def test_ctrl_c_judges_the_widths_that_are_done(cli, relu, monkeypatch):
    class Stopping(ProgressDisplay):
        def __call__(self, done, total):
            super().__call__(done, total)
            if done > total / 3:
                raise KeyboardInterrupt

    monkeypatch.setattr("netsor.cli.compare.ProgressDisplay", Stopping)
    outcome = cli("compare", relu, *WIDTHS)
    assert re.search(r"interrupted: 1 of 3 widths, 2,000 of 6,000 runs \(\d+ more at width \d+ are not used\); 2,000 runs", outcome.out)
    assert cli("compare", relu, *WIDTHS, "--json").json["interrupted"] is True


def test_ctrl_c_before_the_first_width_is_done(cli, relu, monkeypatch):
    class Stopping(ProgressDisplay):
        def __call__(self, done, total):
            raise KeyboardInterrupt

    monkeypatch.setattr("netsor.cli.compare.ProgressDisplay", Stopping)
    assert cli("compare", relu, *WIDTHS).status == 130


def test_the_text_shows_the_range_of_what_was_detectable_and_the_rate_of_each(cli, attention):
    found = cli("compare", attention, *WIDTHS, "--output", "y", "--samples", 1024, "--json").json
    text = cli("compare", attention, *WIDTHS, "--output", "y", "--samples", 1024).out
    own = [each["decision"]["smallest_detectable"] for each in found["statistics"] if each["statistic"] == "variance"]
    assert f"{min(own):.2g} … {max(own):.2g}" in next(line for line in text.splitlines() if " variance " in line)
    assert f"false-alarm rate 0.0001, {1e-4 / len(found['statistics']):.2g} for each" in text
