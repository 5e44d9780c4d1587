"""However malformed or large a file is, the answer is a program or diagnostics, soon."""

import random
import re
import time
from pathlib import Path

import pytest

from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source

START = "width n\nparam s = 3\nindex i in 1..s\ninput h[i] ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\n"
PROGRAMS = sorted((Path(__file__).parents[2] / "programs").glob("*.netsor"))
LONG = 5_000


def codes(text: str) -> list[str]:
    """The codes of a program's diagnostics, [] for one without mistakes. Anything but NetsorError gets through."""
    try:
        load_program(Source(text))
    except NetsorError as error:
        assert str(error)
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize("text", [
    "x = " + " + ".join(["h[1]"] * LONG),
    "x = " + " - ".join(["h[1]*2"] * (LONG // 2)),
    "x = " + "*".join(["h[1]"] * LONG),
    "x = h[1]*(" + "+".join(["1.5"] * LONG) + ")",
    "x = 1 if " + " and ".join(["s > 1"] * (LONG // 2)) + " else 0",
    "x = max(" + ", ".join(["h[1]"] * LONG) + ")",
    "data X[B] = [" + ", ".join(["1.5"] * LONG) + "]",
    "x[0] = h[1]\nfor l in 1..1000:\n  x[l] = x[l-1] + W @ relu(x[l-1])",
], ids=lambda text: text[:12])
def test_long_programs_are_read(text):
    assert codes(START + text + "\n") == []


def test_time_grows_with_the_length_only():
    """Eight times the length takes about eight times as long; a quadratic algorithm would take 64 times."""
    times = []
    for size in (100, 1_000, 8_000):  # the first only warms up
        start = time.perf_counter()
        assert codes(START + "x = " + " + ".join(["h[1]"] * size) + "\n") == []
        times.append(time.perf_counter() - start)
    assert times[2] < 30 * times[1]


@pytest.mark.parametrize("text, code", [
    ("x = " + "(" * 20_000, "N113"),
    ("x = " + "(" * 20_000 + "1" + ")" * 20_000, "N113"),
    ("x = " + "-" * 20_000 + "1", "N113"),
    ("x = " + "relu(" * 150 + "h[1]" + ")" * 150, None),
    ("x = " + "W @ " * 10_000 + "h[1]", "N113"),
    ("x = " + "1 if 1 < 2 else " * 10_000 + "1", "N113"),
    ("x = " + "h[" * 10_000, "N113"),
    ("x = 1^" + "2^" * 10_000 + "1", "N113"),
    ("\n".join(" " * k + f"for a{k} in 1..2:" for k in range(1000)), "N113"),
    ("x = h[1]*" + "9" * 100_000, "N501"),
    ("x = h[1]*0." + "9" * 100_000, None),
    ("x = h[1]*10^10^10^10", "N501"),
    ("x = h[1]*1.1^(2^2^2^2^2)", "N501"),
    ("for k in 1..10^9:\n  x[k] = h[1]", "N512"),
    ("for k in 1..1000:\n  for l in 1..1000:\n    x[k,l] = h[1]", "N512"),
    ("index k, l in 1..10^6\nconst K[k,l] = k*l", "N512"),
    ("index k in 1..10^9\nx = h[1]*sum(k for k)\ny = h[mod(s, 3) + 1]", None),
    ("x[1] = h[1]\nx[2] = h[1]\nindex k in 1..10^9\ny = sum(x[k] for k)", "N512"),
    ("def f(z) = z + z\nx = " + "f(" * 50 + "h[1]" + ")" * 50, "N512"),
    ("def f0(z) = z\n" + "\n".join(f"def f{k}(z) = f{k-1}(z) + f{k-1}(z)" for k in range(1, 60)) + "\nx = f59(h[1])", "N512"),
    ("x = (\n" * 1000, "N102"),
    ("x = )\n" * 1000, "N103"),
    ("x = $\n" * 1000, "N101"),
    ("x = hh\n" * 1000, "N201"),
    ("\"" * 1001, "N112"),
    ("data X[" + "B," * 300 + "B] = 1", "N100"),
], ids=lambda part: repr(part)[:24])
def test_extremes(text, code):
    found = codes(START + text + "\n")
    assert (code in found) if code else not found
    assert len(found) <= 20  # enough is enough


def test_binary_junk():
    noise = random.Random(1)
    for _ in range(50):
        content = bytes(noise.randrange(256) for _ in range(200)).decode("latin-1")
        assert codes(content)
        assert codes(START + "".join(char for char in content if char.isprintable()))


# --- programs with small changes

TOKEN = re.compile(r"\s+|\w+|.", re.DOTALL)
PIECES = ["inf", "n", "softmax", "avg", "dot", "for", "if", "else", ".T", "@", "^", "..", '"', '"""', "\n", "  ", "#", "[", "]", "(", ")",
          "1e9", "0", "-1", "pi", "sum", "mean", "max", "where(", "not", "and", "==", "=", "~", ",", "/", "*", "sqrt("]


def mutated(text: str, noise: random.Random) -> str:
    tokens = TOKEN.findall(text)
    names = sorted({token for token in tokens if token.isidentifier()})
    for _ in range(noise.randint(1, 3)):
        k = noise.randrange(len(tokens))
        choice = noise.random()
        if choice < 0.4 and tokens[k].isidentifier():
            tokens[k] = noise.choice(names)
        elif choice < 0.5 and tokens[k].isdigit():
            tokens[k] = noise.choice(["0", "1", "7", "100", "inf", "n", noise.choice(names)])
        elif choice < 0.65:
            tokens.insert(k, noise.choice(PIECES))
        elif choice < 0.8:
            del tokens[k]
        elif choice < 0.9:
            tokens[k:k] = tokens[noise.randrange(len(tokens)):][:8]
        elif choice < 0.95:
            tokens = tokens[:k]
        else:
            tokens[k] = noise.choice(PIECES)
        tokens = tokens or ["x"]
    return "".join(tokens)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_changed_programs_give_a_program_or_diagnostics(path):
    text = path.read_text(encoding="utf-8")
    noise = random.Random(path.stem)
    for _ in range(25):
        changed = mutated(text, noise)
        try:
            load_program(Source(changed, path.name, path))
        except NetsorError as error:
            found = [diagnostic.code for diagnostic in error.diagnostics]
            assert found and "N901" not in found, changed
            assert str(error)
