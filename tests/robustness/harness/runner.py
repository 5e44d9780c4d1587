"""Runs programs through worker processes, and makes those that fail small."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.mutations import tokens_of
from harness.worker import LIMIT

ROOT = Path(__file__).parents[3]
WORKER = Path(__file__).parent / "worker.py"
SECONDS = 5.0  # of processor time
STUCK = 90.0  # seconds by the clock after which a process that does not answer counts as hanging, or SHARED times what it may take
SHARED = 4  # processes on a core, at most
FINE = ("limit", "drawn", "error")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}


@dataclass(frozen=True)
class Outcome:
    """What became of a program; ``kind`` is "limit", "drawn" or "error" if all is well."""

    text: str
    path: Path
    kind: str
    detail: str
    stage: str = LIMIT

    @property
    def fine(self) -> bool:
        return self.kind in FINE


class Worker:
    """A process that is started again when it dies or hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.patience = STUCK

    def submit(self, text: str, path: Path, seconds: float, stage: str = LIMIT) -> None:
        if self.process is None or self.process.poll() is not None:
            search = os.pathsep.join([str(ROOT), str(WORKER.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
            self.process = subprocess.Popen(
                [sys.executable, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                encoding="utf-8", env={**os.environ, **ONE_THREAD, "PYTHONPATH": search})
        self.patience = max(STUCK, SHARED * seconds)
        self.process.stdin.write(json.dumps({"text": text, "path": str(path), "seconds": seconds, "stage": stage}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> tuple[str, str]:
        """The answer, "hang" or "death"."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            ready = selector.select(self.patience)
        line = self.process.stdout.readline() if ready else ""
        if line:
            answer = json.loads(line)
            return answer["outcome"], answer["detail"]
        self.stop()
        return ("death", f"exit status {self.process.returncode}") if ready else ("hang", f"no answer within {self.patience:.0f} s")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def run(
    programs: Iterable[tuple[str, Path]], *, workers: int = 1, seconds: float = SECONDS, stage: str = LIMIT
) -> Iterator[Outcome]:
    """The outcome of every program, in order, from so many processes."""
    pool = [Worker() for _ in range(workers)]
    try:
        yield from outcomes(programs, pool, seconds, stage)
    finally:
        for worker in pool:
            worker.stop()


def outcomes(
    programs: Iterable[tuple[str, Path]], pool: list[Worker], seconds: float = SECONDS, stage: str = LIMIT
) -> Iterator[Outcome]:
    """The outcome of every program, in order, from these processes."""
    waiting: list[tuple[Worker, str, Path]] = []
    for text, path in programs:
        if len(waiting) == len(pool):
            worker, *done = waiting.pop(0)
            yield Outcome(*done, *worker.receive(), stage)
        else:
            worker = pool[len(waiting)]
        worker.submit(text, path, seconds, stage)
        waiting.append((worker, text, path))
    for worker, *done in waiting:
        yield Outcome(*done, *worker.receive(), stage)


def smallest(failure: Outcome, *, attempts: int = 120, seconds: float = SECONDS) -> Outcome:
    """The failure with lines, then tokens, deleted as long as it fails in the same way."""
    worker = Worker()
    attempts = min(attempts, 20) if failure.kind in ("time", "hang", "death") else attempts
    try:
        for split in (lambda text: text.splitlines(keepends=True), tokens_of):
            parts = split(failure.text)
            size = max(len(parts) // 2, 1)
            while size >= 1 and attempts > 0:
                start = 0
                while start < len(parts) and attempts > 0:
                    attempts -= 1
                    rest = parts[:start] + parts[start + size:]
                    text = "".join(rest)
                    worker.submit(text, failure.path, seconds, failure.stage)
                    kind, detail = worker.receive()
                    if kind == failure.kind and detail.splitlines()[-3:-1] == failure.detail.splitlines()[-3:-1]:
                        failure, parts = Outcome(text, failure.path, kind, detail, failure.stage), rest
                    else:
                        start += size
                size //= 2
        return failure
    finally:
        worker.stop()


def described(failures: list[Outcome]) -> str:
    """Failures for people, one of each sort in full and as small as it gets."""
    kinds: dict[tuple, list[Outcome]] = {}
    for failure in failures:
        kinds.setdefault((failure.kind, *failure.detail.splitlines()[-3:-1]), []).append(failure)
    parts = []
    for (kind, *_), alike in kinds.items():
        small = smallest(min(alike, key=lambda failure: len(failure.text)))
        parts.append(f"{len(alike)} × {kind} (from {small.path.name})\n{small.detail}\n--- program\n{small.text}\n---")
    return "\n\n".join(parts)
