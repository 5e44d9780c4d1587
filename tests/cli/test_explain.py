"""``netsor explain``: every code that can be reported is explained, and no other."""

import re
from pathlib import Path

import netsor
from netsor.cli.explain import read_codes

SOURCES = Path(netsor.__file__).parent.rglob("*.py")


def test_every_code_in_the_sources_is_explained_and_no_other():
    used = {code for path in SOURCES for code in re.findall(r'"(N\d{3})"', path.read_text(encoding="utf-8"))}
    explained = [code.code for family in read_codes() for code in family.codes]
    assert sorted(used) == explained  # sorted, and each once
    assert all(code.title and code.text for family in read_codes() for code in family.codes)
    assert all(code.code.startswith(family.code) for family in read_codes() for code in family.codes)


def test_a_code(cli):
    outcome = cli("explain", "n401")
    assert outcome.status == 0 and outcome.out.startswith("N401  A score that diverges\n\n`dot(u, v)/sqrt(n)` is a sum")
    assert "N402" not in outcome.out


def test_a_family_and_all_families(cli):
    family = cli("explain", "N4").out
    assert family.startswith("N4  Conditions of the theorem: ") and "  N402  A score without a fresh factor\n" in family
    assert [line.split()[0] for line in cli("explain").out.splitlines()[:6]] == ["N1", "N2", "N3", "N4", "N5", "N9"]


def test_an_unknown_code(cli):
    outcome = cli("explain", "N499")
    assert outcome.status == 2 and "there is no code 'N499'" in outcome.err and "N4" in outcome.err
