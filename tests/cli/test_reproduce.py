"""``netsor reproduce attention-paper``."""

import re
import resource
import time

import pytest

from netsor.cli.progress import ProgressDisplay


def test_a_figure_is_written_with_its_numbers(cli, tmp_path):
    outcome = cli("reproduce", "attention-paper", "--quick", "--runs", "32", "--figure", "1", "--out", tmp_path / "new")
    assert outcome.status == 0, outcome.err
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["figure_1.png"]
    assert "n = 1,024" in outcome.out and "2 x 32 runs" in outcome.out


@pytest.mark.parametrize("arguments", [["other-paper"], ["attention-paper", "--figure", "4"], ["attention-paper", "--runs", "0"]])
def test_what_is_not_there_is_a_usage_error(cli, arguments):
    assert cli("reproduce", *arguments).status == 2


def test_a_folder_that_cannot_be_made_is_a_usage_error(cli, tmp_path):
    (tmp_path / "file").touch()
    outcome = cli("reproduce", "attention-paper", "--out", tmp_path / "file")
    assert outcome.status == 2 and "--out" in outcome.err


@pytest.mark.slow
def test_the_quick_version_takes_half_a_minute_and_its_pictures_are_small(cli, tmp_path):
    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    before = used()
    assert cli("reproduce", "attention-paper", "--quick", "--out", tmp_path).status == 0
    assert used() - before < 30
    sizes = [path.stat().st_size for path in tmp_path.glob("figure_*.png")]
    assert len(sizes) == 5 and max(sizes) < 150_000


@pytest.mark.parametrize("runs", [50_000_000, 10**11, "9" * 4000])
def test_huge_requests_are_refused_with_memory_time_and_options_that_exist(cli, tmp_path, runs):
    outcome = cli("reproduce", "attention-paper", "--runs", runs, "--out", tmp_path)
    assert outcome.status == 1 and outcome.out == "" and not list(tmp_path.iterdir())
    assert re.search(r"error\[N52[12]\]: .* would take [\w ,]+ [TGP]iB of memory and about [\w ,]+ (days|years)", outcome.err)
    assert "--runs" in outcome.err and "--figure" in outcome.err and "--samples" not in outcome.err


@pytest.mark.parametrize("share, status, words", [
    (0.7, 0, r"interrupted: 5,056 of 7,200 runs; figure 1 is done"), (0.1, 130, r"interrupted: 856 of 7,200 runs; no figure is done")])
def test_ctrl_c_says_what_is_done_and_how_much(cli, tmp_path, monkeypatch, share, status, words):
    class Stopping(ProgressDisplay):
        def __call__(self, done, total):
            super().__call__(done, total)
            if done > share * total:
                raise KeyboardInterrupt

    monkeypatch.setattr("netsor.cli.reproduce.ProgressDisplay", Stopping)
    outcome = cli("reproduce", "attention-paper", "--quick", "--runs", 600, "--figure", 1, "--figure", 2, "--out", tmp_path)
    assert outcome.status == status and re.search(words, outcome.out + outcome.err)
    assert len(list(tmp_path.iterdir())) == (status == 0) and "before there was a result" not in outcome.err
