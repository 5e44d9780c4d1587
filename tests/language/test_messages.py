"""Messages, whole, as a user sees them.

A golden file is a sequence of cases. A case is a line `=== what is wrong`, the program, a line `---`, and the messages. Text before the
first case stands before every program of the file. To write the messages anew after a change, and then read them:
`NETSOR_UPDATE_GOLDEN=1 pytest tests/language/test_messages.py`, and `git diff`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import netsor.language
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.parse import parse
from netsor.language.source import Source
from netsor.limit.run import run_limit

FILES = sorted(Path(__file__).with_name("golden").glob("*.txt"))
SHOWN_ELSEWHERE = {
    "N114", "N115", "N116", "N117", "N118", "N119",  # about the file as a whole: test_source.py
    "N212",  # about several files: test_imports.py
    "N409",  # about plug-ins: tests/rules
    "N205", "N209", "N504",  # about what is given from outside: test_settings.py
    "N220",  # about outputs that are asked for: tests/limit/test_selection.py
    "N901",  # our own mistakes
}


class Case(NamedTuple):
    title: str
    program: str
    messages: str


def read_cases(path: Path) -> tuple[str, list[Case]]:
    preamble, *blocks = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cases = []
    for block in blocks:
        title, rest = block.split("\n", 1)
        program, messages = rest.split("\n---\n", 1)
        cases.append(Case(title, program, messages.strip("\n")))
    return preamble, cases


def write_cases(path: Path, preamble: str, cases: list[Case]) -> None:
    blocks = [f"=== {case.title}\n{case.program}\n---\n{case.messages}\n\n" for case in cases]
    path.write_text(preamble + "".join(blocks), encoding="utf-8")


def messages_of(program: str) -> str:
    """What a user sees who runs the program, "" if it has a limit."""
    try:
        run_limit(load_program(Source(program, "program.netsor")), samples=16)
    except NetsorError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "path, k", [pytest.param(path, k, id=f"{path.stem}: {case.title}") for path in FILES
                for k, case in enumerate(read_cases(path)[1])])
def test_message(path, k):
    preamble, cases = read_cases(path)
    found = messages_of(preamble + cases[k].program)
    if os.environ.get("NETSOR_UPDATE_GOLDEN"):
        cases[k] = cases[k]._replace(messages=found)
        write_cases(path, preamble, cases)
    assert found == cases[k].messages


def test_every_code_of_the_language_stage_has_a_message():
    folder = Path(netsor.language.__file__).parent
    used = {code for path in folder.glob("*.py") for code in re.findall(r'"(N\d{3})"', path.read_text(encoding="utf-8"))}
    shown = {code for path in FILES for code in re.findall(r"^error\[(N\d{3})\]", path.read_text(encoding="utf-8"), re.M)}
    assert used - shown <= SHOWN_ELSEWHERE


def test_hints_that_give_a_replacement_work():
    """Where a message says "write …", the program with that in place of what is marked is fine."""
    tried = 0
    for path in FILES:
        preamble, cases = read_cases(path)
        for case in cases:
            marked = re.search(r"^\d+ \| (.*)\n +\| ( *)(\^+) write (?:`(\S+)`|(\S+))$", case.messages, re.M)
            if not marked or case.messages.count("error[") > 1 or marked[1] not in case.program:
                continue
            line, start, length = marked[1], len(marked[2]), len(marked[3])
            fixed = line[:start] + (marked[4] or marked[5]) + line[start + length:]
            again = messages_of(preamble + case.program.replace(line, fixed))
            code = case.messages[6:10]
            assert f"error[{code}]" not in again, (case.program, fixed, again)
            tried += 1
    assert tried >= 8


@pytest.mark.parametrize("text, wanted", [
    ("for a in 1..2:\n  for b in 1..2:\n", [("N109", 2)]),
    ("block f(x):\n  block g(x):\n", [("N109", 2)]),
    ("block f(x):\n  y = x\n  for l in 1..3:\nz = = 1\n", [("N109", 3), ("N120", 4)]),
    ("for a in 1..2:\n  for b in 1..2:\n  x = 1\n  y = = 2\nz = = 1\n", [("N109", 2), ("N120", 4), ("N120", 5)]),
    ("for a in 1..2:\nx = 1\nfor b in 1..2:\n  z = = 3\n", [("N109", 1), ("N120", 4)]),
    ("for a in 1..2:\nx = (1\ny = = 1\n", [("N102", 2), ("N120", 3)]),
    ("for a in 1..2: x[a] = 1\nz = = 1\n", [("N109", 1), ("N120", 2)]),
    ("block f(x): return x\nz = = 1\n", [("N109", 1), ("N120", 2)]),
])
def test_reading_goes_on_after_a_loop_or_block_without_lines(text, wanted):
    with pytest.raises(NetsorError) as caught:
        parse(text)
    assert [(each.code, each.span.line) for each in caught.value.diagnostics] == wanted
