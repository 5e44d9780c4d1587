"""``netsor reproduce attention-paper``."""

import resource
import time

import pytest


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
