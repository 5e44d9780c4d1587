"""``netsor graph``: formats, files, and programs that cannot be drawn."""

import xml.etree.ElementTree as ElementTree

import pytest


def test_the_picture_goes_to_the_standard_output(cli, attention):
    outcome = cli("graph", attention)
    assert outcome.status == 0 and ElementTree.fromstring(outcome.out).tag.endswith("svg")
    assert cli("graph", attention, "--format", "mermaid").out.splitlines()[3] == "flowchart TD"
    assert cli("graph", attention, "--format", "dot").out.startswith('digraph "attention" {')


@pytest.mark.parametrize("ending, start", [
    ("svg", "<svg "), ("mmd", "---\ntitle:"), ("mermaid", "---\ntitle:"), ("dot", "digraph"), ("gv", "digraph")])
def test_the_format_is_that_of_the_file(cli, attention, tmp_path, ending, start):
    path = tmp_path / f"picture.{ending}"
    outcome = cli("graph", attention, "--out", path)
    assert (outcome.status, outcome.out) == (0, "") and path.read_text(encoding="utf-8").startswith(start)


def test_settings_and_the_standard_input(cli, attention):
    text = cli("graph", "-", "--format", "dot", "--set", "H=3", stdin=attention.read_bytes()).out
    assert "a = 1..3" in text and cli("graph", attention, "--set", "H=inf", "--format", "dot").out.count("a = 1..∞") >= 4


def test_long_loops_are_folded_unless_asked(cli, program):
    path = program("width n\nparam L = 20\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nx[0] = h\n"
                   "for l in 1..L:\n  x[l] = W @ x[l-1]\noutput x[L]\n")
    assert "⋮ 3..19" in cli("graph", path).out
    everything = cli("graph", path, "--all-layers").out
    assert "⋮" not in everything and everything.count(">W</text>") == 21  # one for each pass, one in the legend


def test_what_cannot_be_drawn_is_said(cli, program, attention, tmp_path):
    outcome = cli("graph", program("width n\nx = relu(y)\n"), "--out", tmp_path / "x.svg")
    assert outcome.status == 1 and "N201" in outcome.err and not (tmp_path / "x.svg").exists()
    assert cli("graph", attention, "--out", tmp_path / "x.png").status == 2
    assert cli("graph", attention, "--format", "svg", "--out", tmp_path / "x.dot").status == 2
    assert cli("graph", attention, "--out", tmp_path / "absent" / "x.svg").status == 2


def test_a_program_whose_limit_does_not_exist_can_be_drawn(cli, program):
    path = program("width n\ninput h ~ N(0, 1)\np = dot(h, h) / sqrt(n)\noutput p\n")
    assert cli("graph", path).status == 0
