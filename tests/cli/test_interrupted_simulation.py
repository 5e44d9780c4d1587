"""Ctrl-C while drawing at finite width: the runs that are done are estimated from and saved, and how many they are is said."""

import re

import numpy as np


BLOCK = 256  # runs that are drawn at a time
WANTED = 10 * BLOCK + 7


def test_the_text_says_how_many_runs_of_how_many(cli, relu, stop_at):
    stop_at(3, "simulate")
    outcome = cli("simulate", relu, "--width", 8, "--runs", WANTED)
    assert outcome.status == 0 and outcome.err == ""
    assert re.search(r"^interrupted: 768 of 2,567 runs, seed 0", outcome.out, re.M)
    assert "by 768 runs at width 8" in outcome.out


def test_the_draws_are_the_first_of_those_asked_for(cli, relu, stop_at, tmp_path):
    cli("simulate", relu, "--width", 8, "--runs", WANTED, "--out", tmp_path / "whole.npz")
    stop_at(3, "simulate")
    found = cli("simulate", relu, "--width", 8, "--runs", WANTED, "--out", tmp_path / "part.npz", "--json").json
    assert found["interrupted"] == {"runs": 768, "wanted": WANTED} and found["runs"] == 768
    whole, part = np.load(tmp_path / "whole.npz"), np.load(tmp_path / "part.npz")
    for name in part:
        assert len(part[name]) == 768 and len(whole[name]) == WANTED
        np.testing.assert_array_equal(part[name], whole[name][:768])


def test_a_finished_simulation_says_nothing_of_it(cli, relu):
    assert "interrupted" not in cli("simulate", relu, "--width", 8, "--runs", 100, "--json").json


def test_with_nothing_done_there_is_a_sentence_and_status_130(cli, relu, monkeypatch):
    def draw(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("netsor.compare.drawing.sample", draw)
    outcome = cli("simulate", relu, "--width", 8, "--runs", WANTED)
    assert (outcome.status, outcome.out, outcome.err) == (130, "", "interrupted before there was a result\n")
