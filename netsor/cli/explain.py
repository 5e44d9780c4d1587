"""netsor explain: what a diagnostic's code means, from language/codes.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources

import click

from netsor.cli.command import Command


@dataclass
class Code:
    """A section of codes.md: ``### N401 title`` and the text below it."""

    code: str
    title: str
    text: str = ""


@dataclass
class Family:
    """A chapter of codes.md: ``## N4 title``, a sentence or two, and its codes."""

    code: str
    title: str
    text: str = ""
    codes: list[Code] = field(default_factory=list)


@click.command(cls=Command, short_help="What the code of a message means.")
@click.argument("code", required=False, metavar="[CODE]")
def command(code: str | None) -> None:
    """What the code of a message means (netsor explain N401), which codes a family has (netsor explain N4), or
    which families there are."""
    families = read_codes()
    if code is None:
        for family in families:
            click.echo(f"{click.style(family.code, bold=True)}  {family.title}: {_one_line(family.text)}")
        click.echo("\nnetsor explain N4 lists the codes of a family, netsor explain N401 explains a code")
        return
    wanted = code.strip().upper()
    for family in families:
        if family.code == wanted:
            click.echo("\n".join(_listing(family)))
            return
        for each in family.codes:
            if each.code == wanted:
                click.echo(f"{click.style(each.code, bold=True)}  {click.style(each.title, bold=True)}\n")
                click.echo(click.wrap_text(each.text, 100, preserve_paragraphs=True))
                return
    raise click.UsageError(f"there is no code {code!r}; {_nearest(wanted, families)}")


def read_codes() -> list[Family]:
    """The families of codes, from the one table of them."""
    content = (resources.files("netsor.language") / "codes.md").read_text(encoding="utf-8")
    families: list[Family] = []
    for heading in re.finditer(r"^(##|###) (N\d+) (.*)\n((?:(?!##).*(?:\n|\Z))*)", content, re.MULTILINE):
        marks, code, title, text = heading.groups()
        if marks == "##":
            families.append(Family(code, title.strip(), text.strip()))
        else:
            families[-1].codes.append(Code(code, title.strip(), text.strip()))
    return families


def _listing(family: Family) -> Iterator[str]:
    yield f"{click.style(family.code, bold=True)}  {click.style(family.title, bold=True)}: {_one_line(family.text)}"
    yield ""
    for each in family.codes:
        yield f"  {each.code}  {each.title}"


def _nearest(wanted: str, families: list[Family]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, [code.code for family in families for code in family.codes], n=3)
    return f"near it are {', '.join(near)}" if near else "netsor explain lists what there is"


def _one_line(text: str) -> str:
    return " ".join(text.split())
