"""What the programs state, and the comparison with what was computed elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAMS = Path(__file__).parents[3] / "programs"
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"


def stated(program: str) -> dict[str, float]:
    """The numbers of the ``expect`` lines of a program, by their left sides; a number may be over the number of heads H."""
    text = (PROGRAMS / f"{program}.netsor").read_text(encoding="utf-8")
    lines = re.findall(r"^expect (.*) = (.*) within", text, flags=re.MULTILINE)
    return {left: float(right.removesuffix("/H")) for left, right in lines if re.fullmatch(f"{NUMBER}(/H)?", right)}


def assert_stated(program: str, numbers: dict[str, float], digits: int = 10) -> None:
    """The program states these numbers, to so many digits after the point."""
    found = stated(program)
    for left, number in numbers.items():
        assert abs(found[left] - number) < 10.0**-digits, f"{program}: {left} is {number:.{digits + 2}f}, stated is {found[left]}"
