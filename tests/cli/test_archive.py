"""``--out FILE.npz``: checked first, written whole or not at all."""

import numpy as np
import pytest


def test_the_arrays_are_those_of_the_json(cli, attention, tmp_path):
    path = tmp_path / "y.npz"
    outcome = cli("run", attention, "--samples", 256, "--json", "--out", path)
    assert outcome.status == 0
    with np.load(path) as archive:
        names = {
            f"{name}.{part}{error}"
            for name in "py"
            for part in ("mean", "var", "cov", "excess_kurtosis")
            for error in ("", ".error")
        }
        assert set(archive) == names
        for name, variable in outcome.json["variables"].items():
            for part in ("mean", "var", "cov", "excess_kurtosis"):
                assert np.array_equal(archive[f"{name}.{part}"], variable[part]["value"])
                assert np.array_equal(archive[f"{name}.{part}.error"], variable[part]["error"])
    assert list(tmp_path.glob(".*")) == []


def test_the_same_seed_writes_the_same_bytes(cli, attention, tmp_path):
    for name in ("one.npz", "two.npz"):
        assert cli("run", attention, "--samples", 256, "--out", tmp_path / name).status == 0
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@pytest.mark.parametrize(
    "name, said",
    [("y.npy", "does not end in .npz"), ("none/y.npz", "cannot be written"), ("folder.npz", "is a directory")],
)
def test_a_place_that_cannot_be_written_is_found_before_the_computation(cli, relu, tmp_path, monkeypatch, name, said):
    (tmp_path / "folder.npz").mkdir()
    monkeypatch.setattr("netsor.api.Program.limit", lambda *args, **kwargs: pytest.fail("computed"))
    outcome = cli("run", relu, "--out", tmp_path / name)
    assert outcome.status == 2 and said in outcome.err


def test_a_failed_run_leaves_the_old_file_alone(cli, program, tmp_path):
    old = tmp_path / "y.npz"
    old.write_bytes(b"old")
    assert cli("run", program("width n\nx = \n"), "--out", old).status == 1
    assert old.read_bytes() == b"old" and sorted(p.name for p in tmp_path.iterdir()) == ["example.netsor", "y.npz"]
