"""The harness is found by the tests of this folder; they share one process with limits."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def settled():
    """What becomes of programs (by name): "limit" or "drawn", the codes of an error, or the whole story of what must not happen."""
    from harness.runner import ROOT, Worker, outcomes
    from harness.worker import LIMIT

    worker = Worker()

    def ask(programs: dict[str, str], stage: str = LIMIT) -> dict[str, str]:
        found = outcomes([(text, ROOT / "programs" / "hard.netsor") for text in programs.values()], [worker], seconds=8, stage=stage)
        return {
            name: each.detail if each.kind == "error" else each.kind if each.fine else f"{each.kind}: {each.detail}"
            for name, each in zip(programs, found)
        }

    yield ask
    worker.stop()
