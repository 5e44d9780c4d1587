"""Every code block of the README and the documentation does what the page shows.

- ``netsor``: a program.  With ``title=NAME`` it is the file of that name for the rest of the page (and if the repository has that
  file, the two must be the same); ``plugin=FILE`` is loaded with it, ``data=X=FILE`` gives its data.  Every program is checked, and its expectations must hold; with ``refused=CODES`` it must be refused
  with these codes.
- ``python``: run in one namespace for the page; lines with ``>>>`` are compared with what they print.  With ``title=NAME`` a file.
- ``console``: commands after ``$``, each followed by what it prints.  ``netsor`` commands are run, installation is left to .ci/run.

Outputs are compared up to times and stated errors.  No other language may appear, so that nothing goes unchecked.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import netsor
from netsor import plugins
from netsor.cli.verdicts import FAILED, judge
from netsor.nonlinearities import registry

NETSOR = [sys.executable, "-c", "import sys; from netsor.cli import main; sys.exit(main())"]
ELSEWHERE = ("pip ", "pytest", "ruff ", "bash .ci/run")  # what .ci/run does

# --- pages and comparison -----------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+(\.\d+)? s\b")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:\(\d+\))?(?:e[-+]?\d+)?(?![\w(])")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands after it (``title=NAME``, ``data=X=FILE``), its text and line."""

    language: str
    title: str
    refused: str
    plugin: str
    data: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        words = dict(word.split("=", 1) for word in match[2].split())
        line = text.count("\n", 0, match.start()) + 1
        options = [words.get(word, "") for word in ("title", "refused", "plugin", "data")]
        found.append(Block(match[1] or "", *options, match[3], line))
    return found


def difference(expected: str, found: str) -> str:
    """What differs between two outputs beyond times, spacing, and numbers within their stated errors; "" if nothing."""
    expected, found = _TIME.sub("TIME", expected), _TIME.sub("TIME", found)
    skeletons = [" ".join(_NUMBER.sub("#", text).replace("-", "").split()) for text in (expected, found)]
    if skeletons[0] != skeletons[1]:
        return f"expected:\n{expected}\nfound:\n{found}"
    for one, other in zip(_NUMBER.findall(expected), _NUMBER.findall(found)):
        (value, error), (wanted, allowed) = _value(one), _value(other)
        if abs(value - wanted) > 4 * (error + allowed) + 1e-9 * abs(value):
            return f"{one} in the page, {other} now"
    return ""


def _value(text: str) -> tuple[float, float]:
    """0.39198(2)e-5 as value and error; without brackets the error is zero."""
    digits, bracket, rest = re.fullmatch(r"([-\d,.]+)(?:\((\d+)\))?((?:e[-+]?\d+)?)", text).groups()
    digits = digits.replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = float("1" + rest) if rest else 1.0
    return float(digits) * scale, int(bracket or 0) * 10.0**-decimals * scale


# --- tests --------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request) -> Path:
    return request.param


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the programs in it; what pages register is forgotten afterwards."""
    registry.names()
    for module, table in ((registry, "_catalogue"), (plugins, "_rules"), (plugins, "_loaded")):
        monkeypatch.setattr(module, table, getattr(module, table).copy())
    shutil.copytree(ROOT / "programs", tmp_path / "programs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # for the plug-ins that pages show
    return tmp_path


def test_the_blocks_of_the_page_do_what_they_show(page, folder):
    namespace: dict = {"__name__": "page"}
    for block in blocks_of(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.title:
            original = ROOT / block.title
            if original.exists():
                assert original.read_text(encoding="utf-8") == block.text, f"{where} is not the file {block.title}"
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
        RUN[block.language](block, namespace, where)


def run_netsor(block: Block, namespace: dict, where: str) -> None:
    if block.refused:
        with pytest.raises(netsor.NetsorError) as raised:
            netsor.parse(block.text)
        assert [diagnostic.code for diagnostic in raised.value.diagnostics] == block.refused.split(","), where
        return
    files = [block.plugin] if block.plugin else []
    data = dict([block.data.split("=")]) if block.data else {}
    program = (netsor.load if block.title else netsor.parse)(block.title or block.text, plugins=files, data=data)
    if program.ir.expectations and not block.title.startswith("programs/"):
        for expectation, found in program.limit(samples=2**14).expectations:
            assert judge(expectation, found, program.ir).verdict != FAILED, f"{where}: {expectation.span.text}"


def run_python(block: Block, namespace: dict, where: str) -> None:
    if ">>>" not in block.text:
        if not block.title:
            exec(compile(block.text, where, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(block.text, namespace, where, where, 0)
    for example in test.examples:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(example.source, where, "single"), namespace)
        wrong = difference(example.want, shown.getvalue())
        assert not wrong, f"{where}: {example.source}{wrong}"


def run_console(block: Block, namespace: dict, where: str) -> None:
    _, *parts = ("\n" + block.text).split("\n$ ")
    assert parts, f"{where}: a console block starts with a command"
    for part in parts:
        command, _, expected = part.partition("\n")
        if command.startswith(ELSEWHERE):
            continue
        word, *arguments = shlex.split(command)
        assert word == "netsor", f"{where}: {command} is not tested"
        environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(
            NETSOR + arguments, capture_output=True, text=True, encoding="utf-8", env=environment, stdin=subprocess.DEVNULL, timeout=120
        )
        wrong = difference(expected, done.stdout + done.stderr)
        assert not wrong, f"{where}: {command}\n{wrong}"


RUN = {"netsor": run_netsor, "python": run_python, "console": run_console}


def test_the_readme_has_the_two_commands_that_continuous_integration_runs():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ pip install ")]
    assert commands == ["pip install . && netsor run programs/attention.netsor", "pip install '.[test]' && pytest"]
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert r"sed -n 's/^\$ \(pip install .*\)$/\1/p' README.md" in script


def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
