"""``--plot FILE`` on the commands that compute something."""

import json

import pytest

COMMANDS = {
    "run": [],
    "simulate": ["--width", "16", "--runs", "200"],
    "compare": ["--width", "8,32", "--runs", "200"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_figure_is_written_and_said_so(cli, relu, tmp_path, command):
    path = tmp_path / "figure.png"
    outcome = cli(command, relu, "--plot", path, *COMMANDS[command])
    assert outcome.status == 0, outcome.err
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"figure written to {path}" in outcome.out


def test_json_stays_one_object(cli, relu, tmp_path):
    outcome = cli("run", relu, "--json", "--plot", tmp_path / "figure.SVG")
    json.loads(outcome.out)
    assert (tmp_path / "figure.SVG").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("command", COMMANDS)
def test_another_ending_is_a_usage_error_before_the_program_is_read(cli, tmp_path, command):
    outcome = cli(command, tmp_path / "missing.netsor", "--plot", tmp_path / "figure.gif")
    assert outcome.status == 2
    assert "does not end in .png, .svg or .pdf" in outcome.err


def test_a_folder_that_does_not_exist_is_a_usage_error(cli, relu, tmp_path):
    outcome = cli("run", relu, "--plot", tmp_path / "nowhere" / "figure.png")
    assert outcome.status == 2 and "--plot" in outcome.err


def test_a_failed_run_leaves_no_figure(cli, program, tmp_path):
    outcome = cli("run", program("width n\ninput x ~ N(0, 1)\np = dot(x, x)/sqrt(n)\noutput p\n"), "--plot", tmp_path / "figure.png")
    assert outcome.status == 1
    assert [path.name for path in tmp_path.iterdir()] == ["example.netsor"]
