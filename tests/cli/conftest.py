"""Running the command line inside the test's process and outside of it."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from netsor.cli import main

ROOT = Path(__file__).parents[2]

ATTENTION = '''"""Softmax attention at initialisation."""
width n
param s = 4
param H = 2
index i, j in 1..s
index a in 1..H
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
q[a,i]   = WQ[a] @ h[i]
k[a,i]   = WK[a] @ h[i]
p[a,i,j] = dot(q[a,i], k[a,j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
v[a,i]   = WO[a] @ (WV[a] @ h[i])
y[i]     = sum(A[a,i,j] * v[a,j] for a, j) / sqrt(H)
output p, y
expect cov(y[1], y[1]) = 0.391971443576 within 0.01
'''

RELU = '''"""One layer."""
width n
param N = 2
index b in 1..N
input h[b] ~ N(0, 1)
matrix W ~ N(0, 2/n)
z[b] = W @ relu(h[b])
output z
'''


@dataclass
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        """The output, which must be one strict JSON object."""

        def refuse(token):
            raise AssertionError(f"{token} is not JSON")

        assert self.out.count("\n") == 1
        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def cli(capsys, monkeypatch):
    """``cli("run", path, stdin=b"…")`` runs a command in this process."""

    def run(*arguments, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def outside():
    """``outside("run", path)`` starts ``python -m netsor`` and returns the process; the rest are environment variables."""

    def start(*arguments, stdin=None, stderr=subprocess.PIPE, start_new_session=False, **variables) -> subprocess.Popen:
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "NETSOR_DEBUG")}
        return subprocess.Popen(
            [sys.executable, "-m", "netsor", *map(str, arguments)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=start_new_session,
            env={**kept, "PYTHONPATH": str(ROOT), **variables},
        )

    return start


@pytest.fixture
def program(tmp_path):
    """``program(text)`` writes a program file."""

    def write(text: str, name: str = "example.netsor") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def attention(program):
    """A program with scores: p Gaussian, y a scale mixture."""
    return program(ATTENTION, "attention.netsor")


@pytest.fixture
def relu(program):
    """A program whose limit is exact."""
    return program(RELU, "relu.netsor")


@pytest.fixture
def stop_at(monkeypatch):
    """``stop_at(k, "run")``: Ctrl-C arrives when that command reports progress for the k-th time."""
    from netsor.cli.progress import ProgressDisplay

    def install(call: int, command: str) -> None:
        calls = iter(range(1, 10**6))

        class Stopping(ProgressDisplay):
            def __call__(self, done, total):
                super().__call__(done, total)
                if next(calls) == call:
                    raise KeyboardInterrupt

        monkeypatch.setattr(f"netsor.cli.{command}.ProgressDisplay", Stopping)

    return install
