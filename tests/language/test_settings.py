"""What comes from outside a program: settings, arrays, files."""

import math
from fractions import Fraction

import numpy as np
import pytest

from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source

PROGRAM = """width n
param H = 2, beta
data X[B, D]
index a in 1..H
index b in 1..B
input h[b] ~ N(0, beta)
y[a] = h[1]*a
"""
ARRAY = np.arange(6.0).reshape(3, 2)


def load(text=PROGRAM, settings=None, data=None):
    return load_program(Source(text), settings={"beta": 1} if settings is None else settings, data={"X": ARRAY} if data is None else data)


def refused(**options) -> list[str]:
    with pytest.raises(NetsorError) as error:
        load(**options)
    return [f"{diagnostic.code} {diagnostic.message}" for diagnostic in error.value.diagnostics]


# --- settings


@pytest.mark.parametrize("given, value", [
    ("3", 3), ("2^3", 8), (" 1/3*6 ", 2), (4, 4), (np.int64(5), 5), (4.0, 4), ("B+1", None), ("inf", math.inf), ("∞", math.inf),
    (math.inf, math.inf),
])
def test_a_setting_is_a_number_or_a_constant_expression(given, value):
    text = PROGRAM.replace("h[1]*a", "h[1]")
    if value is None:
        assert refused(text=text, settings={"beta": 1, "H": given})[0].startswith("N204")
    else:
        program = load(text, settings={"beta": 1, "H": given})
        assert program.parameters["H"] == value and program.changed == {"beta", "H"}


def test_settings_are_exact():
    for given in (0.1, "0.1", "1/10", Fraction(1, 10)):
        assert load(settings={"beta": given}).parameters["beta"] == Fraction(1, 10)


@pytest.mark.parametrize("given, code", [
    (math.nan, "N504"), (-math.inf, "N504"), (True, "N504"), ([1], "N504"), (None, "N504"), ("2, K = 3", "N504"), ("2\nwidth m", "N504"),
    ("2 +", "N123"), ("", "N123"), ("x", "N201"), ("h[1]", "N204"), ("1/0", "N513"), ("relu", "N208"), ("0..3", "N127"), ("n", "N310"),
    ("1e999", "N501"), ("\x00", "N116"),
])
def test_a_setting_that_is_no_value(given, code):
    assert refused(settings={"beta": given})[0].startswith(code)


def test_a_parameter_without_a_value():
    assert refused(settings={})[0] == "N503 `beta` has no value"


def test_settings_of_what_is_no_parameter():
    assert refused(settings={"beta": 1, "b": 2, "G": 3}) == [
        "N205 `b` is set from outside, but it is not a parameter of this program",
        "N205 `G` is set from outside, but it is not a parameter of this program",
    ]


def test_a_size_that_the_data_say_cannot_be_set_to_something_else():
    assert load(settings={"beta": 1, "B": 3}).parameters["B"] == 3
    assert refused(settings={"beta": 1, "B": 4})[0] == "N504 `B` is set to 4, but the data say 3"


# --- arrays


def test_arrays_are_passed_as_they_are():
    program = load()
    assert program.parameters["B"] == 3 and program.parameters["D"] == 2
    (array,) = program.arrays
    assert array.values.dtype == float and np.array_equal(array.values, ARRAY)


@pytest.mark.parametrize("given, code", [
    (np.ones((3, 2, 1)), "N506"), (np.ones(3), "N506"), (3.0, "N506"), (np.ones((0, 2)), "N506"),
    (np.array([[1, np.nan]]), "N507"), (np.array([[1, -np.inf]]), "N507"), (np.array([["a", "b"]]), "N507"),
    (np.array([[1j, 2]]), "N507"), (np.array([[None, 2]]), "N507"), ([[1, 2], [3]], "N507"), ({"a": 1}, "N507"),
])
def test_arrays_that_do_not_fit(given, code):
    (message,) = refused(data={"X": given})
    assert message.startswith(code)


def test_data_for_a_name_that_has_none():
    assert refused(data={"X": ARRAY, "Y": ARRAY}) == ["N209 there are data for `Y`, but no such `data` statement"]


# --- files


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "x.npy", ARRAY)
    np.savez(tmp_path / "one.npz", whatever=ARRAY)
    np.savez(tmp_path / "two.npz", X=ARRAY, Y=-ARRAY)
    np.savez(tmp_path / "other.npz", A=ARRAY, B=-ARRAY)
    (tmp_path / "x.csv").write_text("0,1\n2,3\n\n4, 5.0\n")
    (tmp_path / "bom.csv").write_text("\ufeff0,1\n2,3\n4,5", encoding="utf-8")
    (tmp_path / "header.csv").write_text("a,b\n0,1\n")
    (tmp_path / "ragged.csv").write_text("0,1\n2\n")
    (tmp_path / "hole.csv").write_text("0,1\n2,\n")
    (tmp_path / "nan.csv").write_text("0,nan\n2,3\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr'")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04nothing")
    (tmp_path / "x.txt").write_text("1")
    np.save(tmp_path / "objects.npy", np.array([[{}, 1]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    return tmp_path


def from_file(folder, name):
    path = folder / "program.netsor"
    path.write_text(PROGRAM.replace("data X[B, D]", f'data X[B, D] = "{name}"'), encoding="utf-8")
    return load_program(path, settings={"beta": 1})


@pytest.mark.parametrize("name", ["x.npy", "one.npz", "two.npz", "x.csv", "bom.csv"])
def test_files(folder, name):
    program = from_file(folder, name)  # relative to the program
    assert np.array_equal(program.arrays[0].values, ARRAY) and program.name == "program"
    assert np.array_equal(load(data={"X": folder / name}).arrays[0].values, ARRAY)
    assert np.array_equal(load(data={"X": str(folder / name)}).arrays[0].values, ARRAY)


@pytest.mark.parametrize("name, code, words", [
    ("missing.npy", "N505", "there is no file"), ("x.txt", "N505", "told by its ending"), (".", "N505", "is not a file"),
    ("other.npz", "N505", "has no array `X`"), ("broken.npy", "N505", "not an .npy file"), ("broken.npz", "N505", "not an .npz file"),
    ("binary.csv", "N505", "is not a text file"), ("header.csv", "N507", "`a` is not a number in line 1, column 1"),
    ("ragged.csv", "N506", "line 2 of ragged.csv has 1 numbers"), ("hole.csv", "N507", "a number is missing in line 2, column 2"),
    ("nan.csv", "N507", "`X[1,2]` is not a number"), ("empty.csv", "N506", ""), ("objects.npy", "N507", "Python objects"),
    ("text.npy", "N507", "does not consist of numbers"), ("x" * 300 + ".npy", "N505", ""),
])
def test_files_that_do_not_fit(folder, name, code, words):
    for load_it in (lambda: from_file(folder, name), lambda: load(data={"X": folder / name})):
        with pytest.raises(NetsorError) as error:
            load_it()
        (diagnostic,) = error.value.diagnostics
        assert diagnostic.code == code and words in diagnostic.message


def test_sizes_are_checked_where_they_are_known():
    text = PROGRAM.replace("data X[B, D]", "param D = 5\ndata X[B, D]")
    assert refused(text=text) == ["N506 the array is 3 x 2, which does not fit here"]
    assert load(text=PROGRAM.replace("data X[B, D]", "param D = 1\ndata X[B, 2*D]")).parameters["D"] == 1


# --- covariances


def covariance(matrix: np.ndarray) -> list[str]:
    text = "width n\ndata K[B, C]\nindex b in 1..B\ninput h[b] ~ N(0, K)\n"
    try:
        load_program(Source(text), data={"K": matrix})
    except NetsorError as error:
        return [f"{diagnostic.code} {diagnostic.label}" for diagnostic in error.diagnostics]
    return []


def test_singular_covariances_are_fine_and_indefinite_ones_are_not():
    points = np.random.default_rng(1).normal(size=(300, 5))
    gram = points @ points.T  # of rank 5: 295 eigenvalues are zero up to rounding, half of them below
    assert covariance(gram) == []
    assert covariance(np.zeros((4, 4))) == []
    assert covariance(np.ones((4, 4)) * 1e-300) == []
    eigenvalues, vectors = np.linalg.eigh(gram)
    eigenvalues[0] = -1e-8 * eigenvalues[-1]
    (message,) = covariance((vectors * eigenvalues) @ vectors.T)
    assert message.startswith("N508 its smallest eigenvalue is -")
    assert float(message.split()[-1]) == pytest.approx(eigenvalues[0], rel=1e-3)


def test_a_covariance_is_symmetric():
    matrix = np.eye(3)
    matrix[0, 2] = 1e-6
    assert covariance(matrix) == ["N508 1e-06 for h[1] and h[3], 0 the other way round"]
    assert covariance(-np.eye(2))[0].startswith("N509")
