"""The table of docs/reference/nonlinearities.md is the catalogue.

``python tests/docs/test_nonlinearity_table.py`` writes it anew.
"""

from __future__ import annotations

import inspect
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/reference/nonlinearities.md"
HEAD = "| call | function | growth | kinks | closed forms | source |\n| --- | --- | --- | --- | --- | --- |\n"


def table() -> str:
    from netsor.nonlinearities import get, names

    return HEAD + "".join(row(get(name)) for name in names())


def row(nonlinearity) -> str:
    required = [name for name, default in nonlinearity.parameters if default is None]
    parameters = "".join(f", {name}" + ("" if default is None else f"={default:g}") for name, default in nonlinearity.parameters)
    described = inspect.cleandoc(type(nonlinearity).__doc__ or nonlinearity.citation).splitlines()[0].rstrip(".")
    kinks = "with its parameters" if required else ", ".join(f"{kink:g}" for kink in nonlinearity.kinks())
    forms = "" if required else closed_forms(nonlinearity)
    cells = [f"`{nonlinearity.name}(x{parameters})`", described, nonlinearity.growth, kinks, forms, nonlinearity.citation]
    return "| " + " | ".join(cell.replace("|", "\\|").rstrip(".") for cell in cells) + " |\n"


def closed_forms(nonlinearity) -> str:
    from netsor.nonlinearities.base import pair_closed_form

    arguments = nonlinearity.arguments()
    found = ["mean"] if nonlinearity.mean(1.0) is not None else []
    found += ["pair"] if pair_closed_form(nonlinearity, arguments, nonlinearity, arguments) is not None else []
    return ", ".join(found)


def test_the_table_is_the_catalogue():
    text = PAGE.read_text(encoding="utf-8")
    assert table() in text, f"run python {Path(__file__).name}"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("| call |")
    stop = page.index("\n\n", start) + 1
    PAGE.write_text(page[:start] + table() + page[stop:], encoding="utf-8")
