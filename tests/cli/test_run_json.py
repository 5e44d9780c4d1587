"""``netsor run --json``: one strict object, complete, reproducible."""

import numpy as np
import pytest

from netsor import __version__
from netsor.cli.json_output import LARGEST, estimate_object, numbers, parameter
from netsor.expectation import Estimate

LAWS = {"gaussian", "gaussian mixture", "function of gaussian", "constant"}


def check_estimate(found: dict, shape: tuple) -> None:
    assert set(found) == {"value", "error", "method"}
    assert np.shape(found["value"]) == np.shape(found["error"]) == shape
    assert isinstance(found["method"], str)


def check_result(found: dict) -> None:
    """The schema of the object."""
    assert {"netsor", "program", "params", "seed", "samples", "theorem", "variables", "seconds"} <= set(found)
    assert found["netsor"] == __version__
    assert isinstance(found["theorem"]["name"], str) and isinstance(found["theorem"]["proved"], bool)
    for variable in found["variables"].values():
        assert variable["kind"] in {"G", "H", "C", "S"} and variable["law"] in LAWS
        shape = tuple(variable["axes"].values())
        assert all(isinstance(name, str) for name in variable["given"])
        for statistic in ("mean", "var", "excess_kurtosis"):
            check_estimate(variable[statistic], shape)
        if "cov" in variable:
            check_estimate(variable["cov"], shape + shape)


def test_attention(cli, attention):
    outcome = cli("run", attention, "--json", "--samples", 1024, "--seed", 5)
    assert (outcome.status, outcome.err) == (0, "")
    found = outcome.json
    check_result(found)
    assert (found["program"], found["params"], found["seed"], found["samples"]) == (
        "attention",
        {"s": 4, "H": 2},
        5,
        1024,
    )
    assert found["theorem"]["proved"] is True and "interrupted" not in found
    y, p = found["variables"]["y"], found["variables"]["p"]
    assert (y["kind"], y["axes"], y["given"], y["law"]) == ("G", {"i": 4}, ["p"], "gaussian mixture")
    assert y["mean"] == {"value": [0.0] * 4, "error": [0.0] * 4, "method": "exact"}
    assert (p["kind"], p["axes"], p["given"], p["law"]) == ("S", {"a": 2, "i": 4, "j": 4}, [], "gaussian")
    assert list(found["variables"]) == ["p", "y"]


def test_constants_and_functions_of_gaussians(cli, program):
    path = program("width n\ninput h ~ N(0, 1)\nx = relu(h)\nm = avg(x^2)\noutput x, m\n")
    found = cli("run", path, "--json").json
    check_result(found)
    assert found["variables"]["x"]["law"] == "function of gaussian"
    assert found["variables"]["m"]["law"] == "constant"
    assert found["variables"]["m"]["mean"]["value"] == pytest.approx(0.5, abs=1e-12)
    assert found["variables"]["m"]["axes"] == {} and found["variables"]["m"]["kind"] == "C"


def test_the_numbers_depend_on_the_seed_only(cli, attention):
    first, again, other = (cli("run", attention, "--json", "--samples", 512, "--seed", seed).json for seed in (3, 3, 4))
    for found in (first, again, other):
        del found["seconds"]
    assert first == again
    assert first["variables"]["y"]["var"] != other["variables"]["y"]["var"]


def test_a_seed_of_any_size(cli, attention):
    assert cli("run", attention, "--json", "--samples", 64, "--seed", 2**80).json["seed"] == 2**80


def test_infinite_parameters_are_strings_and_fractions_are_numbers(cli, attention):
    assert cli("run", attention, "--json", "--set", "H=inf", "--samples", 64, "--output", "y").json["params"] == {
        "s": 4,
        "H": "inf",
    }
    from fractions import Fraction

    assert [parameter(v) for v in (Fraction(1, 4), Fraction(8, 4), 3, None)] == [0.25, 2, 3, None]
    assert type(parameter(Fraction(8, 4))) is int


def test_what_is_no_number_becomes_null():
    assert numbers(np.array([[1.0, np.nan], [np.inf, 2.0]])) == [[1.0, None], [None, 2.0]]


def test_a_large_array_is_summarised():
    value = np.arange(LARGEST + 1.0)
    assert estimate_object(Estimate(value, 0.5, "exact")) == {
        "summary": True,
        "shape": [LARGEST + 1],
        "min": 0.0,
        "max": float(LARGEST),
        "error": 0.5,
        "method": "exact",
    }
    assert "value" in estimate_object(Estimate(value[:10], 0.0, "exact"))


def test_a_covariance_of_more_than_a_million_numbers_is_summarised_and_variances_are_not(cli, program):
    path = program(
        "width n\nindex b in 1..1001\ninput h[b] ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nz[b] = W @ h[b]\noutput z\n"
    )
    z = cli("run", path, "--json").json["variables"]["z"]
    assert z["cov"]["summary"] is True and z["cov"]["shape"] == [1001, 1001] and z["cov"]["max"] == 1.0
    assert len(z["var"]["value"]) == 1001


def test_errors_are_one_object_too(cli, program):
    outcome = cli("run", program("width n\nx = y\nz = \n"), "--json")
    assert (outcome.status, outcome.err) == (1, "")
    first, *_ = outcome.json["error"]
    assert first["code"].startswith("N1") and (first["line"], first["severity"]) == (3, "error")
    assert {"code", "message", "file", "line", "column", "hint"} <= set(first)
    missing = cli("run", "nowhere.netsor", "--json").json["error"][0]
    assert missing["line"] is None and "nowhere.netsor" in missing["message"]
