"""Every code block of the README and the documentation does what the page shows.

- ``netsor``: a program.  With ``title=NAME`` it is the file of that name for the rest of the page (and if the repository has that
  file, the two must be the same); ``plugin=FILE`` is loaded with it, ``data=X=FILE`` gives its data.  It must be a program and its
  expectations must hold; with ``refused=CODES`` it must be refused with these codes.
- ``python``: run in one namespace for the page; lines with ``>>>`` are followed by what they print.  With ``title=NAME`` a file.
- ``console``: commands after ``$``, each followed by what it prints.  ``netsor`` commands are run, installation is left to .ci/run.

Outputs are compared up to times and stated errors.  No other language may appear, so that nothing goes unchecked.
``python tests/docs/test_code_blocks.py`` writes the outputs of all pages anew where they differ; read the change before you commit it.
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import netsor
from netsor import plugins
from netsor.cli.verdicts import FAILED, judge
from netsor.nonlinearities import registry

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NETSOR = [sys.executable, "-c", "import sys; from netsor.cli import main; sys.exit(main())"]
ELSEWHERE = ("pip ", "pytest", "ruff ", "bash .ci/run")  # what .ci/run does

_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+(\.\d+)?(e[-+]\d+)? s\b")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:\(\d+\))?(?:e[-+]?\d+)?(?![\w(])")


# --- pages ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands after it (``title=NAME``), its text, and where it is."""

    language: str
    options: dict[str, str]
    text: str
    where: str

    @property
    def title(self) -> str:
        return self.options.get("title", "")

    @classmethod
    def of(cls, match: re.Match, page: Path) -> Block:
        line = match.string.count("\n", 0, match.start()) + 1
        options = dict(word.split("=", 1) for word in match[2].split())
        return cls(match[1], options, match[3], f"{page.relative_to(ROOT)}:{line}")


@contextlib.contextmanager
def workshop(folder: Path) -> Iterator[None]:
    """Work in ``folder`` with the programs in it; what pages register or import is forgotten afterwards."""
    shutil.copytree(ROOT / "programs", folder / "programs")
    registry.names()
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        for module, table in ((registry, "_catalogue"), (plugins, "_rules"), (plugins, "_loaded")):
            patch.setattr(module, table, getattr(module, table).copy())
        patch.chdir(folder)
        patch.syspath_prepend(folder)  # for the plug-ins that pages show
        before = set(sys.modules)
        yield
        for name in set(sys.modules) - before:
            if str(folder) in (getattr(sys.modules[name], "__file__", None) or ""):
                del sys.modules[name]


# --- running a block gives its text as it should be -------------------------------------------------------------------


def run_netsor(block: Block, namespace: dict) -> str:
    if "refused" in block.options:
        with pytest.raises(netsor.NetsorError) as raised:
            netsor.parse(block.text)
        assert [diagnostic.code for diagnostic in raised.value.diagnostics] == block.options["refused"].split(","), block.where
        return block.text
    options = {"plugins": [block.options["plugin"]]} if "plugin" in block.options else {}
    options |= {"data": dict([block.options["data"].split("=")])} if "data" in block.options else {}
    program = (netsor.load if block.title else netsor.parse)(block.title or block.text, **options)
    if program.ir.expectations and not (ROOT / block.title).is_file():
        for expectation, found in program.limit(samples=2**14).expectations:
            assert judge(expectation, found, program.ir).verdict != FAILED, f"{block.where}: {expectation.span.text}"
    return block.text


def run_python(block: Block, namespace: dict) -> str:
    examples = doctest.DocTestParser().get_examples(block.text, block.where)
    if not examples:
        if not block.title:
            exec(compile(block.text, block.where, "exec"), namespace)
        return block.text
    lines = []
    for example in examples:
        first, *rest = example.source.splitlines()
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(example.source, block.where, "single"), namespace)
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in rest), *shown.getvalue().splitlines()]
    return "\n".join(lines) + "\n"


def run_console(block: Block, namespace: dict) -> str:
    start, *parts = ("\n" + block.text).split("\n$ ")
    assert parts and not start.strip(), f"{block.where}: a console block starts with a command"
    return "\n".join(f"$ {command}\n{run_command(command, shown)}" for command, _, shown in (p.partition("\n") for p in parts))


def run_command(command: str, shown: str) -> str:
    """What a command prints."""
    if command.startswith(ELSEWHERE):
        return shown
    word, *arguments = shlex.split(command)
    assert word == "netsor", f"{command} is not tested"
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        NETSOR + arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", timeout=180,
    )
    return done.stdout


RUN = {"netsor": run_netsor, "python": run_python, "console": run_console}


def run_page(page: Path, text: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Every block of a page with its text as it should be."""
    namespace: dict = {"__name__": "page"}
    with workshop(folder):
        for match in _FENCE.finditer(text):
            block = Block.of(match, page)
            if block.title:
                original = ROOT / block.title
                if original.is_file():
                    assert original.read_text(encoding="utf-8") == block.text, f"{block.where} is not the file {block.title}"
                (folder / block.title).write_text(block.text, encoding="utf-8")
            assert block.language in RUN, f"{block.where}: no test knows the language {block.language!r}"
            yield block, RUN[block.language](block, namespace)


# --- comparison -------------------------------------------------------------------------------------------------------


def difference(shown: str, found: str) -> str:
    """What differs between two outputs beyond times, spacing, and numbers within their stated errors; "" if nothing."""
    shown, found = _TIME.sub("TIME", shown), _TIME.sub("TIME", found)
    skeletons = [" ".join(_NUMBER.sub("#", text).replace("-", "").split()) for text in (shown, found)]
    if skeletons[0] != skeletons[1]:
        return f"the page shows:\n{shown}\nnow it is:\n{found}"
    for one, other in zip(_NUMBER.findall(shown), _NUMBER.findall(found)):
        (value, error), (wanted, allowed) = _value(one), _value(other)
        if abs(value - wanted) > 4 * (error + allowed) + 1e-9 * abs(value):
            return f"the page shows {one}, now it is {other}"
    return ""


def _value(text: str) -> tuple[float, float]:
    """0.39198(2)e-5 as value and error; without brackets the error is zero."""
    digits, bracket, rest = re.fullmatch(r"([-\d,.]+)(?:\((\d+)\))?((?:e[-+]?\d+)?)", text).groups()
    digits = digits.replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = float("1" + rest) if rest else 1.0
    return float(digits) * scale, int(bracket or 0) * 10.0**-decimals * scale


# --- tests ------------------------------------------------------------------------------------------------------------

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_the_blocks_of_the_page_do_what_they_show(page, tmp_path):
    for block, found in run_page(page, page.read_text(encoding="utf-8"), tmp_path):
        wrong = difference(block.text, found)
        assert not wrong, f"{block.where}: {wrong}"


@each_page
def test_links_between_pages_lead_somewhere(page):
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_the_readme_has_the_two_commands_that_continuous_integration_runs():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ pip install ")]
    assert commands == ["pip install . && netsor run programs/attention.netsor", "pip install '.[test]' && pytest -n 2"]
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert r"sed -n 's/^\$ \(pip install .*\)$/\1/p' README.md" in script


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("variance 0.39198(2)", "variance 0.39220(2)"),
        ("variance 0.5", "variance 0.500001"),
        ("a  0.1(1)", "b  0.1(1)"),
        ("1 2", "1 2 3"),
    ],
)
def test_a_difference_is_seen(shown, found):
    assert difference(shown, found)
    assert not difference(shown, shown + "  ")


def test_times_and_errors_may_differ():
    assert not difference("y  0.39198(2), 3.1 s", "y   0.39195(3), 0.8 s")


def write_pages() -> None:
    """Write the outputs of all pages anew, where they differ."""
    import tempfile

    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            found = list(run_page(page, text, Path(folder)))
        for block, new in found:
            if difference(block.text, new):
                text = text.replace(f"\n{block.text}```", f"\n{new}```", 1)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
