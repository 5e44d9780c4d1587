"""The law of one output: a table where it is small, its extremes where it is large."""

from __future__ import annotations

import numpy as np

from netsor.cli.text.elements import axis_name, label, places, ranges, subscripts, title
from netsor.cli.text.numbers import DIGITS, number
from netsor.cli.text.table import table
from netsor.expectation import Estimate
from netsor.ir.facts import has_other_law
from netsor.limit.outputs.base import Variable

TABLE_ROWS = 16  # elements of an output that is shown element by element
SEVERAL = 1000  # different numbers that may still be one text
LINE = 110  # columns that a covariance matrix may take
KINDS = {"G": "vector", "H": "vector", "S": "random scalar", "C": "number"}


def describe(variable: Variable) -> list[str]:
    """The lines about an output."""
    lines = [_heading(variable)]
    statistics = _statistics(variable)
    if variable.law == "constant" and not variable.shape:
        return [f"{lines[0]}: {_texts(variable.mean)[0]}{_how(variable.mean.method)}"]
    constant = {name: texts for name, (_, texts) in statistics.items() if len(set(texts)) == 1}
    several = " for every element" if variable.mean.value.size > 1 else ""
    said = [f"{name} {texts[0]}" for name, texts in constant.items()]
    if said:
        lines.append("    " + ", ".join(said) + several)
    varying = {name: found for name, found in statistics.items() if name not in constant}
    if varying and variable.mean.value.size <= TABLE_ROWS:
        lines += _indent(_element_table(variable, varying))
    elif varying:
        lines += [f"    {name} {_spread(variable, estimate)}" for name, (estimate, _) in varying.items()]
    lines += _indent(_covariance(variable))
    if any(estimate.method != "exact" for estimate, _ in statistics.values()):
        lines.append(f"    by {_method(variable)}")
    return lines


def _heading(variable: Variable) -> str:
    law = variable.law.replace("gaussian", "Gaussian")
    if variable.law == "function of gaussian" and any(map(has_other_law, variable.families)):
        law = "not Gaussian"
    given = f" given {', '.join(variable.given)}" if variable.given else ""
    where = f"   {ranges(variable)}" if ranges(variable) else ""
    words = KINDS.get(variable.kind, variable.kind)
    return f"{title(variable)}{where}   {words}" + ("" if variable.law == "constant" else f", {law}{given}")


def _statistics(variable: Variable) -> dict[str, tuple[Estimate, list[str]]]:
    """What is said of each element: the estimate, and its texts in the order of the elements."""
    wanted = (
        {"value": variable.mean} if variable.law == "constant" else {"mean": variable.mean, "variance": variable.var}
    )
    if variable.law not in ("gaussian", "constant"):
        kurtosis = variable.excess_kurtosis  # fourth moment / variance^2 - 3: known no better than the rounding of 3
        wanted["excess kurtosis"] = Estimate(kurtosis.value, np.maximum(kurtosis.error, 1e-15), kurtosis.method)
    return {name: (estimate, _texts(estimate, float(name == "excess kurtosis"))) for name, estimate in wanted.items()}


def _texts(estimate: Estimate, scale: float = 0.0) -> list[str]:
    """The elements as text; ``scale`` is what counts as large even if no element is."""
    scale = float(np.max(np.abs(estimate.value), initial=scale, where=np.isfinite(estimate.value)))
    pairs = np.stack([estimate.value.ravel(), estimate.error.ravel()], axis=1)
    if len(pairs) > TABLE_ROWS:  # no table: only whether all are the same is looked at
        distinct = np.unique(pairs, axis=0)
        pairs = distinct if len(distinct) <= SEVERAL else distinct[[0, -1]]
    return [number(float(v), float(e), scale) for v, e in pairs]


def _element_table(variable: Variable, statistics: dict[str, tuple[Estimate, list[str]]]) -> list[str]:
    header = [axis_name(axis) for axis in variable.indices] + list(statistics)
    columns = [texts for _, texts in statistics.values()]
    rows = [subscripts(variable, place) + [column[k] for column in columns] for k, place in enumerate(places(variable))]
    return table(header, rows)


def _spread(variable: Variable, estimate: Estimate) -> str:
    """ "from … at … to … at …" """
    least, most = (np.unravel_index(pick(estimate.value), estimate.shape) for pick in (np.argmin, np.argmax))
    shown = [
        f"{number(float(estimate.value[p]), float(estimate.error[p]))} ({label(variable, p)})" for p in (least, most)
    ]
    return f"from {shown[0]} to {shown[1]}" + _equal_within_errors(estimate.value, estimate.error)


def _equal_within_errors(values: np.ndarray, errors: np.ndarray) -> str:
    k, m = np.argmin(values), np.argmax(values)
    difference = values.flat[m] - values.flat[k]
    return ": equal within their errors" if difference <= 4 * np.hypot(errors.flat[k], errors.flat[m]) else ""


# --- covariance ------------------------------------------------------------------------------------------------------


def _covariance(variable: Variable) -> list[str]:
    count = variable.mean.value.size
    if count == 1 or variable.law == "constant":
        return []
    if not variable.has_cov:
        return ["the covariance of so many elements was not computed"]
    value, error = (array.reshape(count, count) for array in (variable.cov.value, variable.cov.error))
    off = ~np.eye(count, dtype=bool)
    rounding = 10.0**-DIGITS * float(np.max(np.abs(value)))
    if np.abs(value[off]).max() <= rounding and error[off].max() <= rounding:
        return ["elements are " + ("independent" if variable.law == "gaussian" else "uncorrelated")]
    if count <= TABLE_ROWS:
        matrix = _matrix(variable, value, error)
        if max(map(len, matrix)) <= LINE:
            return ["covariance", *_indent(matrix, 2)]
    return ["covariance of different elements " + _pair_spread(variable, value, error, off)]


def _matrix(variable: Variable, value: np.ndarray, error: np.ndarray) -> list[str]:
    labels = [",".join(subscripts(variable, place)) for place in places(variable)]
    scale = float(np.max(np.abs(value)))
    cells = [[number(float(v), float(e), scale) for v, e in zip(*rows)] for rows in zip(value, error)]
    names = ",".join(filter(None, map(axis_name, variable.indices)))
    return table([names, *labels], [[name, *row] for name, row in zip(labels, cells)])


def _pair_spread(variable: Variable, value: np.ndarray, error: np.ndarray, off: np.ndarray) -> str:
    known = places(variable)
    shown = []
    for pick, fill in ((np.argmin, np.inf), (np.argmax, -np.inf)):
        i, j = np.unravel_index(pick(np.where(off, value, fill)), value.shape)
        text = number(float(value[i, j]), float(error[i, j]), float(np.max(np.abs(value))))
        shown.append(f"{text} ({label(variable, known[i])} and {label(variable, known[j])})")
    return f"from {shown[0]} to {shown[1]}" + _equal_within_errors(value[off], error[off])


def _indent(lines: list[str], by: int = 4) -> list[str]:
    return [" " * by + line for line in lines]


def _how(method: str) -> str:
    return "" if method == "exact" else f"   by {method}"


def _method(variable: Variable) -> str:
    estimates = [variable.mean, variable.var, variable.excess_kurtosis]
    methods = dict.fromkeys(estimate.method for estimate in estimates if estimate.method != "exact")
    return max(methods, key=len)
