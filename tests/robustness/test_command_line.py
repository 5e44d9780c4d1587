"""The command line on files and options of all kinds: exit statuses 0, 1, 2 only, never a traceback, JSON that is JSON."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from harness.runner import ROOT

PROGRAM = """width n
param s = 3
index i in 1..s
input h[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
x[i] = W @ relu(h[i])
output x
expect cov(x[1], x[1]) = 0.5 within 1e-9
"""
SCORES = PROGRAM.replace("expect", "q[i] = dot(W @ h[1], h[i]) / sqrt(n)\noutput q\nexpect")


def start(*arguments, cwd=None, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "netsor", *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, **options)


def netsor(*arguments, cwd=None, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command that ends by itself."""
    process = start(*arguments, cwd=cwd, stdin=subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out.decode(), err.decode()


def check(*arguments, cwd=None, stdin: bytes = b"") -> int:
    """The exit status, all else being as it must be."""
    status, out, err = netsor(*arguments, cwd=cwd, stdin=stdin)
    shown = f"{arguments}: {status}\n{out[-2000:]}\n{err[-2000:]}"
    assert status in (0, 1, 2), shown
    assert "Traceback" not in err + out and "N901" not in err + out, shown
    assert status == 0 or err or out, shown
    if "--json" in arguments and status != 2:
        answer = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert ("error" in answer) == (status == 1), shown
    return status


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that should and should not be programs."""
    path = tmp_path_factory.mktemp("files")
    files = {
        "good": PROGRAM, "scores": SCORES, "wrong": PROGRAM.replace("@", "*"), "missed": PROGRAM.replace("0.5", "0.6"), "empty": "",
        "huge": PROGRAM.replace("s = 3", "s = 10^12"), "deep": PROGRAM.replace("h[i])", "h[i]" + ")" * 200).replace("relu(", "tanh(" * 200),
        "nan": PROGRAM.replace("relu(h[i])", "log(h[i])"), "brackets": "(" * 10_000, "unicode": PROGRAM.replace("W", "Ω").replace("x[", "ξ["),
    }
    for name, text in files.items():
        (path / f"{name}.netsor").write_text(text, encoding="utf-8")
    (path / "binary.netsor").write_bytes(bytes(range(256)) * 10)
    (path / "zeros.netsor").write_bytes(b"\0" * 10_000)
    (path / "utf16.netsor").write_text(PROGRAM, encoding="utf-16")
    (path / "folder.netsor").mkdir()
    np.save(path / "array.npy", np.ones(3))
    (path / "fails.py").write_text("1/0\n")
    (path / "exits.py").write_text("raise SystemExit(7)\n")
    (path / "prints.py").write_text("import sys\nsys.setrecursionlimit(10**4)\n")
    return path


QUICK = [
    (0, "run", "good.netsor", "--json"), (1, "run", "nan.netsor", "--json"), (1, "check", "binary.netsor"), (1, "run", "huge.netsor"),
    (1, "test", "missed.netsor"), (2, "run", "good.netsor", "--seed", "-1"), (2, "run", "good.netsor", "--out", "/nowhere/x.npz"),
]
SLOW = [
    *[(None, command, f"{name}.netsor", *rest) for name in
      ("good", "wrong", "missed", "empty", "deep", "nan", "brackets", "unicode", "binary", "zeros", "utf16", "folder", "nowhere")
      for command, *rest in (("run", "--json"), ("run",), ("check",), ("test",))],
    (1, "run", "/dev/null"), (1, "run", "."), (1, "run", ""), (2, "run"), (2, "nonsense"), (0, "--version"), (2, "run", "a", "b"),
    (1, "run", "good.netsor", "--set", "s=0"), (1, "run", "good.netsor", "--set", "s=1e400"), (1, "run", "good.netsor", "--set", "t=3"),
    (2, "run", "good.netsor", "--set", "s"), (1, "run", "good.netsor", "--set", "s=)("), (1, "run", "good.netsor", "--set", "s=s"),
    (1, "run", "good.netsor", "--set", "s=" + "9" * 5000), (1, "run", "good.netsor", "--set", "s=inf^inf"),
    (1, "run", "good.netsor", "--data", "X=array.npy"), (2, "run", "good.netsor", "--data", "X"), (1, "run", "good.netsor", "--output", "zz"),
    (2, "run", "good.netsor", "--samples", "0"), (2, "run", "good.netsor", "--samples", "many"),
    (1, "run", "scores.netsor", "--samples", "1" + "0" * 30), (1, "run", "scores.netsor", "--samples", "1" + "0" * 12, "--json"),
    (0, "run", "scores.netsor", "--seed", "9" * 40), (2, "run", "good.netsor", "--out", "folder.netsor"),
    (1, "run", "good.netsor", "--plugin", "fails.py"), (1, "run", "good.netsor", "--plugin", "nowhere.py"),
    (1, "run", "good.netsor", "--plugin", "exits.py"), (0, "run", "good.netsor", "--plugin", "prints.py"),
    (0, "explain", "N407"), (2, "explain", "N000"), (2, "explain", "\x1b"),
]


def name(case) -> str:
    return " ".join(case[1:])[:60].replace("\x1b", "^")


@pytest.mark.parametrize("case", QUICK, ids=name)
def test_some_commands(case, folder):
    expected, *arguments = case
    assert check(*arguments, cwd=folder) == expected


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=name)
def test_all_commands(case, folder):
    expected, *arguments = case
    status = check(*arguments, cwd=folder)
    assert expected is None or status == expected


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", PROGRAM.encode(), bytes(range(256)), b"\xff\xfe", b"width n\n" * 1000], ids=lambda c: repr(c[:12]))
def test_the_standard_input(content):
    assert check("run", "-", "--json", stdin=content) == (0 if content == PROGRAM.encode() else 1)


@pytest.mark.slow
def test_a_file_that_may_not_be_read_or_written(folder):
    if os.geteuid() == 0:
        pytest.skip("root may do everything")
    locked = folder / "locked.netsor"
    locked.write_text(PROGRAM)
    locked.chmod(0)
    assert check("run", locked) == 1


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.05, 0.5, 1.5, 3.0])
def test_an_interrupt_at_any_moment(moment, folder):
    """Too early for a result or in the middle of sampling: a sentence or a result, and no traceback once the command runs."""
    process = start("run", "scores.netsor", "--samples", str(2**24), cwd=folder)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT, 1)
    if moment >= 1.5:
        assert b"Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("run", "good.netsor"), ("run", "good.netsor", "--json"), ("list",), ("explain",)], ids=" ".join)
def test_a_reader_that_leaves(arguments, folder):
    process = start(*arguments, cwd=folder)
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) in (0, 1, 141)
    assert b"Traceback" not in err
