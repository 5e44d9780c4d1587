"""``netsor new``: what it writes runs, passes its own test, and is in the style of ``netsor fmt``."""

import subprocess
import sys

import pytest

from netsor import plugins
from netsor.cli.new import PLUGINS, PROGRAMS
from netsor.nonlinearities import registry


@pytest.mark.parametrize("template", PROGRAMS)
def test_programs_run_and_pass_their_own_test_and_need_no_formatting(cli, tmp_path, template):
    path = tmp_path / "mine.netsor"
    outcome = cli("new", tmp_path / "mine", "--template", template)
    assert outcome.status == 0 and outcome.out.startswith(f"wrote {path}\n") and f"netsor run {path}" in outcome.out
    assert cli("run", path, "--samples", 4096).status == 0
    tested = cli("test", path, "--json")
    assert tested.status == 0 and tested.json["summary"] == {
        "passed": text_of(path).count("\nexpect "), "consistent": 0, "failed": 0, "skipped": 0}
    assert cli("fmt", "--check", path).status == 0


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("template", PROGRAMS)
def test_every_statement_of_a_program_is_explained(cli, tmp_path, template):
    """Above each group of statements or behind each line there is a comment."""
    cli("new", tmp_path / "mine.netsor", "--template", template)
    paragraphs = text_of(tmp_path / "mine.netsor").split('"""\n', 1)[1].strip().split("\n\n")
    assert len(paragraphs) >= 5 and all("#" in paragraph for paragraph in paragraphs)


@pytest.fixture
def forgotten(monkeypatch):
    """Plug-ins that a test loads are gone after it."""
    registry.names()
    for module, table in ((registry, "_catalogue"), (plugins, "_rules"), (plugins, "_loaded")):
        monkeypatch.setattr(module, table, getattr(module, table).copy())


@pytest.mark.parametrize("template", PLUGINS)
def test_plugins_pass_their_own_check_and_can_be_called(cli, tmp_path, program, template, forgotten):
    path = tmp_path / "my_own.py"
    outcome = cli("new", tmp_path / "my_own", "--plugin", "--template", template)
    assert outcome.status == 0 and f"python {path}" in outcome.out
    checked = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout.startswith("my_own: "), checked.stderr
    call = "my_own(h)" if template == "nonlinearity" else "my_own(h, 2)"
    calling = program(f"width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ {call}\n", "calling.netsor")
    assert cli("run", calling, "--plugin", path).status == 0


def test_a_plugin_that_declares_something_wrong_fails_its_own_check(cli, tmp_path):
    path = tmp_path / "wrong.py"
    assert cli("new", path, "--plugin").status == 0
    path.write_text(text_of(path).replace("return (0.0,)", "return ()"), encoding="utf-8")
    checked = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert checked.returncode != 0 and "AssertionError" in checked.stderr


def test_a_file_that_is_there_is_left_alone(cli, program):
    path = program("width n\n", "mine.netsor")
    outcome = cli("new", path)
    assert outcome.status == 1 and "is there already" in outcome.err and text_of(path) == "width n\n"


def test_a_folder_that_is_not_there_is_said(cli, tmp_path):
    outcome = cli("new", tmp_path / "absent" / "mine")
    assert outcome.status == 1 and "cannot write" in outcome.err and "No such file" in outcome.err


@pytest.mark.parametrize("name", ["relu", "softmax", "param", "class", "sqrt", "exp", "two words", "1st", "naïve", "_x", "pi"])
def test_names_that_no_function_can_have_are_usage_errors(cli, tmp_path, name):
    assert cli("new", tmp_path / name, "--plugin").status == 2 and not list(tmp_path.iterdir())


def test_templates_are_of_programs_or_of_plugins(cli, tmp_path):
    assert cli("new", tmp_path / "x", "--plugin", "--template", "mlp").status == 2
    assert cli("new", tmp_path / "x", "--template", "nothing").status == 2
    assert cli("new", tmp_path / "haar", "--template", "rule").status == 0 and (tmp_path / "haar.py").exists()
