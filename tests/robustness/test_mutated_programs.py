"""However a program is changed, it ends soon, within bounded memory, in a limit or in diagnostics: never in another exception or a NaN."""

import random
import time
from pathlib import Path

import pytest
from harness.mutations import mutated, tokens_of
from harness.runner import ROOT, SECONDS, described, run
from harness.worker import FINITE, LIMIT

BLOCKS = sorted(Path(__file__).with_name("programs").glob("*.netsor"))  # each kind of statement in a block
PROGRAMS = sorted((ROOT / "programs").glob("*.netsor")) + BLOCKS
QUICK, ALL = 200, 10_000
QUICK_DRAWN, ALL_DRAWN, DRAWN = 60, 3_000, 20.0  # at finite width, and seconds of processor time for one comparison among them
LOADED = 2 * SECONDS  # where four processes share two cores, and what each computes takes more of its time
LONG = 60.0  # seconds of processor time for 4000 calls of blocks, to where their number is refused


def changed_programs(count: int, seed: int, originals: list[Path] = PROGRAMS) -> list[tuple[str, Path]]:
    """Changed programs, all originals in turn."""
    noise = random.Random(seed)
    texts = {path: path.read_text(encoding="utf-8") for path in PROGRAMS}
    donors = [tokens_of(text) for text in texts.values()]
    return [(mutated(texts[path], donors, noise), path) for path in (originals * (count // len(originals) + 1))[:count]]


def check(
    programs: list[tuple[str, Path]], workers: int, seconds: float, share: float = 1 / 10, each: float = SECONDS, stage: str = LIMIT
) -> None:
    """Run the programs, or as many as there is time for on a busy machine; more than this share of them has a limit or is drawn."""
    failures, limits, parsed, done = [], 0, 0, 0
    end = time.monotonic() + seconds
    for outcome in run(programs, workers=workers, seconds=each, stage=stage):
        done += 1
        limits += outcome.kind in ("limit", "drawn")
        parsed += any(not code.startswith("N1") for code in outcome.detail.split() or ["limit"])
        if not outcome.fine:
            failures.append(outcome)
        if time.monotonic() > end or len(failures) > 20:
            break
    assert not failures, described(failures)
    assert limits > share * done and parsed > done / 4  # otherwise only the parser would be tested
    assert done >= len(programs) / 5


@pytest.mark.slow
def test_the_originals_have_a_limit():
    outcomes = list(run([(path.read_text(encoding="utf-8"), path) for path in PROGRAMS]))
    assert {outcome.path.name: outcome.detail for outcome in outcomes if outcome.kind != "limit"} == {}


def test_some_changed_programs():
    check(changed_programs(QUICK, seed=1), workers=1, seconds=60)


def test_some_changed_blocks():
    check(changed_programs(QUICK // 4, seed=3, originals=BLOCKS), workers=1, seconds=30, share=0, each=LONG)


@pytest.mark.slow
def test_many_changed_blocks():
    check(changed_programs(ALL // 10, seed=4, originals=BLOCKS), workers=2, seconds=200, share=1 / 100, each=LONG)


@pytest.mark.slow
def test_many_changed_programs():
    check(changed_programs(ALL, seed=2), workers=2, seconds=300, each=LOADED)


def test_some_changed_programs_at_finite_width():
    check(changed_programs(QUICK_DRAWN, seed=5), workers=1, seconds=60, each=DRAWN, stage=FINITE)


@pytest.mark.slow
def test_many_changed_programs_at_finite_width():
    check(changed_programs(ALL_DRAWN, seed=6), workers=2, seconds=130, each=DRAWN, stage=FINITE)
