"""Arrays from outside: .npy, .npz and .csv files, literals, and arrays that a caller passes."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from netsor.language import syntax
from netsor.language.constants import closed_value
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.expressions import constant
from netsor.language.scope import count
from netsor.language.source import Span
from netsor.language.state import Frame, fail

FILE_LIMIT = 2 * 2**30  # bytes


def read_array(node: syntax.Data, frame: Frame) -> np.ndarray:
    """The numbers of a `data` statement, float64, all finite.

    What `--data NAME=FILE` (or the caller) gives comes first. Raises NetsorError: N505 where nothing can be read, N506
    for a wrong form, N507 for entries that are no finite numbers.
    """
    name = node.element.name.name
    span = node.element.span
    given = frame.state.data.get(name)
    if given is not None:
        values = _file(Path(given), name, None) if isinstance(given, (str, os.PathLike)) else _from_caller(given, name)
    elif node.value is None:
        fail("N505", f"`{name}` has no numbers", span, "", (), f"give them: --data {name}=FILE")
    elif isinstance(node.value, syntax.File):
        span = node.value.span
        path = Path(node.value.name)
        directory = frame.state.directory
        values = _file(path if path.is_absolute() or directory is None else directory / path, name, span)
    else:
        values, span = _literal(node.value, frame), node.value.span
    return _numbers(values, name, span)


def _numbers(values: Any, name: str, span: Span) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind == "c":
        fail("N507", f"`{name}` has complex numbers", span)
    if values.dtype.kind not in "fiub":
        fail("N507", f"`{name}` does not consist of numbers (its type is {values.dtype})", span)
    if 0 in values.shape:
        fail("N506", f"`{name}` is empty", span)
    values = values.astype(float)
    bad = ~np.isfinite(values)
    if bad.any():
        position = tuple(int(k) + 1 for k in np.unravel_index(np.argmax(bad), values.shape))
        where = f"`{name}[{','.join(map(str, position))}]`" if position else f"`{name}`"
        found = "not a number" if np.isnan(values[bad][0]) else "infinite"
        fail("N507", f"{where} is {found}", span)
    return values


def _from_caller(given: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(given)
    except Exception as error:  # whatever a caller's object raises when it is made an array
        message = f"what was given for `{name}` is not an array of numbers: {error}"
        raise NetsorError(Diagnostic("N507", message)) from None


# --- literals


def _literal(node: syntax.List, frame: Frame) -> np.ndarray:
    return np.array(_items(node, frame), dtype=float)


def _items(node: syntax.List, frame: Frame) -> list:
    """Nested lists of equal lengths."""
    first_shape: tuple[int, ...] | None = None
    first = None
    rows = []
    for item in node.items:
        row = _items(item, frame) if isinstance(item, syntax.List) else _entry(item, frame)
        shape = np.shape(row)
        if first_shape is None:
            first_shape, first = shape, item
        elif shape != first_shape:
            fail("N506", "the rows of this list differ in length", item.span, _described(shape),
                 (Label(first.span, _described(first_shape)),))
        rows.append(row)
    return rows


def _described(shape: tuple[int, ...]) -> str:
    if not shape:
        return "a single number"
    return count(shape[0], "number") if len(shape) == 1 else " x ".join(map(str, shape))


def _entry(node: syntax.Node, frame: Frame) -> float:
    if isinstance(node, syntax.Number):
        return float(node.value)
    number = closed_value(constant(node, frame, "an entry of a list"))
    if number is None:
        fail("N507", "an entry of a list is a number", node.span)
    return float(number)


# --- files


def _file(path: Path, name: str, span: Span | None) -> np.ndarray:
    try:
        if not path.is_file():
            fail("N505", f"there is no file {path}" if not path.exists() else f"{path} is not a file", span,
                 f"the numbers of `{name}`" if span else "")
        if path.stat().st_size > FILE_LIMIT:
            fail("N512", f"{path} is larger than {FILE_LIMIT // 2**30} GiB", span)
        match path.suffix.lower():
            case ".npy":
                return _npy(path, span)
            case ".npz":
                return _npz(path, name, span)
            case ".csv":
                return _csv(path, span)
    except OSError as error:
        fail("N505", f"cannot read {path}: {error.strerror or error}", span)
    fail("N505", f"{path.name}: the form of a data file is told by its ending", span, ".npy, .npz or .csv")


def _npy(path: Path, span: Span | None) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, MemoryError) as error:
        if "pickle" in str(error) and "Object arrays" in str(error):
            fail("N507", f"{path.name} holds Python objects, not numbers", span)
        fail("N505", f"{path.name} is not an .npy file that can be read: {_first_line(error)}", span)


def _npz(path: Path, name: str, span: Span | None) -> np.ndarray:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as archive:
            if not hasattr(archive, "files"):
                return archive
            if name in archive.files:
                return archive[name]
            if len(archive.files) == 1:
                return archive[archive.files[0]]
            held = ", ".join(archive.files) or "nothing"
            fail("N505", f"{path.name} has no array `{name}`", span, f"it holds {held}")
    except (ValueError, EOFError, SyntaxError, zipfile.BadZipFile, MemoryError) as error:
        fail("N505", f"{path.name} is not an .npz file that can be read: {_first_line(error)}", span)


def _csv(path: Path, span: Span | None) -> np.ndarray:
    """Numbers separated by commas, a row a line; one column or one row is still a table."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        fail("N505", f"{path.name} is not a text file", span)
    rows: list[list[float]] = []
    try:
        for record in (reader := csv.reader(io.StringIO(text))):
            if not any(cell.strip() for cell in record):
                continue
            rows.append([_cell(cell, path, reader.line_num, k + 1, span) for k, cell in enumerate(record)])
            if len(rows[-1]) != len(rows[0]):
                fail("N506", f"line {reader.line_num} of {path.name} has {len(rows[-1])} numbers, the first line "
                     f"{len(rows[0])}", span)
    except csv.Error as error:
        fail("N505", f"{path.name} is not a .csv file that can be read: {error}", span)
    return np.array(rows, dtype=float)


def _cell(cell: str, path: Path, line: int, column: int, span: Span | None) -> float:
    try:
        return float(cell)
    except ValueError:
        shown = cell.strip()[:30]
        header = " (a header line is not allowed)" if line == 1 else ""
        what = f"`{shown}` is not a number" if shown else "a number is missing"
        fail("N507", f"{what} in line {line}, column {column} of {path.name}{header}", span)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
