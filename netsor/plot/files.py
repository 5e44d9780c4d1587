"""Figures as files: PNG, SVG or PDF, the same bytes for the same figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 110  # dots per inch of a PNG
UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def file_format(path: str | Path) -> str:
    """The format that a file's name asks for.

    :raises ValueError: if it is none of FORMATS."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ValueError(f"{str(path)!r} does not end in {', '.join('.' + name for name in FORMATS[:-1])} or .{FORMATS[-1]}")
    return suffix


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure; the format is that of the name.

    :raises ValueError: for a name that ends in none of FORMATS."""
    kind = file_format(path)
    with open(path, "wb") as file:
        write(figure, file, kind)


def write(figure: Figure, file: BinaryIO, kind: str) -> None:
    """Write a figure in one of FORMATS to an open file."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "netsor", "svg.fonttype": "path"}):
        figure.savefig(file, format=kind, dpi=RESOLUTION, metadata=UNDATED[kind])
