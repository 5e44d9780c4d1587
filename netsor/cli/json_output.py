"""A result as one JSON object.

Strict JSON: infinity is the string "inf" among parameters; what is not a number is null."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from netsor import __version__
from netsor.cli.failures import as_object
from netsor.expectation import Estimate
from netsor.limit.outputs.base import Variable
from netsor.limit.result import LimitResult

LARGEST = 1_000_000  # numbers of an array that is written out; larger ones are summarised (--out has them)


def dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def result_object(result: LimitResult, seconds: float, wanted: int) -> dict[str, Any]:
    """``netsor run --json``"""
    found: dict[str, Any] = {
        "netsor": __version__,
        "program": result.program.name,
        "params": {name: parameter(value) for name, value in result.program.parameters.items()},
        "seed": result.seed,
        "samples": result.samples,
        "theorem": {"name": result.theorem.name, "proved": result.theorem.proved, "reason": result.theorem.reason},
        "variables": {name: variable_object(variable) for name, variable in result.items()},
    }
    if result.program.warnings:
        found["warnings"] = [as_object(warning) for warning in result.program.warnings]
    if result.interrupted:
        found["interrupted"] = {"samples": result.samples, "wanted": wanted}
    found["seconds"] = round(seconds, 3)
    return found


def variable_object(variable: Variable) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": variable.kind,
        "axes": dict(variable.axes),
        "given": list(variable.given),
        "law": variable.law,
        "mean": estimate_object(variable.mean),
        "var": estimate_object(variable.var),
    }
    if variable.has_cov:
        found["cov"] = estimate_object(variable.cov)
    found["excess_kurtosis"] = estimate_object(variable.excess_kurtosis)
    return found


def estimate_object(estimate: Estimate) -> dict[str, Any]:
    if estimate.value.size > LARGEST:
        return {
            "summary": True,
            "shape": list(estimate.shape),
            "min": finite(estimate.value.min()),
            "max": finite(estimate.value.max()),
            "error": finite(estimate.error.max()),
            "method": estimate.method,
        }
    return {"value": numbers(estimate.value), "error": numbers(estimate.error), "method": estimate.method}


def numbers(array: np.ndarray) -> Any:
    """Nested lists, what is not finite as null."""
    if np.isfinite(array).all():
        return array.tolist()
    return np.where(np.isfinite(array), array.astype(object), None).tolist()


def finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def parameter(value: Any) -> Any:
    """A parameter: a whole number, a number, "inf", or null for one without a value."""
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return int(value) if value == int(value) else float(value)
