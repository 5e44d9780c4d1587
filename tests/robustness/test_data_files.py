"""Data files of every kind: numbers that are used, or a diagnostic that says what is wrong with the file."""

import numpy as np
import pytest

import netsor

TEXT = """width n
data X[B, D] = "x.npy"
index b, c in 1..B
index d in 1..D
const K[b,c] = mean(X[b,d] * X[c,d] for d)
input h[b] ~ N(0, K)
matrix W ~ N(0, 1/n)
x[b] = W @ erf(h[b])
output x
"""
GOOD = np.array([[1.0, 2.0, 0.5], [0.25, -1.0, 3.0]])


def codes(value, tmp_path=None) -> list[str]:
    """The codes of the errors, [] for a program with a limit of finite numbers."""
    try:
        limit = netsor.parse(TEXT, data={"X": value}).limit()
    except netsor.NetsorError as error:
        assert str(error)
        return [diagnostic.code for diagnostic in error.diagnostics]
    assert np.isfinite(limit["x"].cov.value).all()
    return []


@pytest.mark.parametrize("array", [
    GOOD, np.asfortranarray(GOOD), GOOD[:, ::-1], GOOD.astype(">f4"), GOOD.astype(np.float16), np.ones((2, 3), np.int8),
    np.ones((2, 3), bool), np.arange(6, dtype=np.uint64).reshape(2, 3), np.zeros((2, 3)), np.ones((1, 1)), GOOD.astype(np.longdouble),
    GOOD * 1e-150, [[1, 2], [3, 4]],
], ids=lambda array: f"{np.asarray(array).dtype}{np.shape(array)}")
def test_arrays_of_numbers(array, tmp_path):
    assert codes(array) == []
    np.save(tmp_path / "x.npy", array)
    assert codes(tmp_path / "x.npy") == []


@pytest.mark.parametrize("array", [
    np.float64(3), np.zeros(3), np.zeros((2, 3, 1)), np.zeros((0, 3)), np.zeros((2, 0)), GOOD + 1j, np.array([["a", "b"]]),
    np.array([[1, None]], dtype=object), np.array([[np.nan, 1]]), np.array([[np.inf, 1]]), GOOD * 1e200,
    np.zeros((2, 3), "datetime64[s]"), np.zeros((2, 3), [("a", float)]), [[1, 2], [3]], "", "nowhere.npy", [], None, {"a": 1},
], ids=lambda array: repr(array)[:30])
def test_arrays_of_anything_else(array, tmp_path):
    assert codes(array)
    if isinstance(array, np.ndarray):
        np.save(tmp_path / "x.npy", array, allow_pickle=True)
        assert codes(tmp_path / "x.npy")


@pytest.mark.parametrize("name, content, fine", [
    ("plain.csv", b"1,2\n3,4\n", True), ("spaces.csv", b" 1 , 2 \n\n3,4", True), ("windows.csv", b"1,2\r\n3,4\r\n", True),
    ("bom.csv", b"\xef\xbb\xbf1,2\n3,4\n", True), ("exponents.csv", b"1e2,-2.5E-3\n+3,.5\n", True),
    ("header.csv", b"a,b\n1,2\n", False), ("ragged.csv", b"1,2\n3\n", False), ("empty.csv", b"", False), ("blank.csv", b"\n\n", False),
    ("words.csv", b"1,two\n", False), ("nan.csv", b"1,nan\n", False), ("missing.csv", b"1,,2\n", False), ("huge.csv", b"1e400,1\n", False),
    ("latin.csv", b"1,\xe9\n", False), ("binary.csv", bytes(range(256)), False), ("zeros.csv", b"\0" * 4096, False),
    ("junk.npy", b"junk", False), ("empty.npy", b"", False), ("header.npy", b"\x93NUMPY\x01\x00\xff\xff{", False),
    ("junk.npz", b"PK\x03\x04junk", False), ("x.txt", b"1,2\n", False), ("x", b"1,2\n", False),
])
def test_files_of_any_content(name, content, fine, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert (codes(tmp_path / name) == []) is fine


def test_cut_off_and_lying_npy_files(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((200, 3)))
    whole = (tmp_path / "x.npy").read_bytes()
    for content in (whole[:-8], whole[:60], whole[:8], whole.replace(b"(200, 3)", b"(2" + b"0" * 12 + b", 3)"),
                    whole.replace(b"(200, 3)", b"(-20, 3)"), whole.replace(b"<f8", b"|O8")):
        (tmp_path / "cut.npy").write_bytes(content)
        assert codes(tmp_path / "cut.npy")


def test_archives(tmp_path):
    np.savez(tmp_path / "one.npz", anything=GOOD)
    np.savez(tmp_path / "several.npz", X=GOOD, Y=GOOD)
    np.savez(tmp_path / "others.npz", Y=GOOD, Z=GOOD)
    np.savez(tmp_path / "none.npz")
    assert [bool(codes(tmp_path / f"{name}.npz")) for name in ("one", "several", "others", "none")] == [False, False, True, True]


def test_directories_and_devices(tmp_path):
    assert codes(tmp_path)
    (tmp_path / "folder.npy").mkdir()
    assert codes(tmp_path / "folder.npy")
    assert codes("/dev/null")
