"""`import`: functions and blocks of other files and of the library, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.imports import library, library_source
from netsor.language.parse import parse

MAIN = "width n\nparam s = 3\nindex i, k in 1..s\nindex b in 1..2\ninput h[i], m[k], g[b,i] ~ N(0, 1)\n"
CORRELATED = "data C[3,3] = [[2, 1, 0.5], [1, 1, 0.2], [0.5, 0.2, 0.7]]\ninput x[i] ~ N(0, C)\n"


@pytest.fixture
def folder(tmp_path):
    """Writes files; returns what happens when the first is loaded: a program, or its messages."""
    def load(**texts: str):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.netsor"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        try:
            return load_program(tmp_path / f"{next(iter(texts))}.netsor")
        except NetsorError as error:
            return str(error).replace(str(tmp_path), "…")
    return load


def names(program) -> set[str]:
    return {family.name for family in program.families}


def test_functions_and_blocks_are_brought_in(folder):
    program = folder(
        main=MAIN + 'import "parts/layers.netsor"\ny[i] = double(h[i])\nz[i] = scaled(h[i])\noutput y, z',
        parts__layers="def scaled(z, c=3) = c*z\nblock double(x):\n  w = scaled(x, 2)\n  return w\n")
    assert {"y", "z", "y.w"} <= names(program)


def test_paths_are_relative_to_the_importing_file(folder):
    program = folder(
        main=MAIN + 'import "a/first.netsor"\ny[i] = first(h[i])\noutput y',
        a__first='import "../b/second.netsor"\nblock first(x):\n  y = second(x)\n  return y\n',
        b__second="block second(x):\n  return 2*x\n")
    assert "y.y" in names(program)


def test_names_of_an_imported_file_are_its_own(folder):
    """Both files have a `scale`; each uses its own."""
    program = folder(
        main=MAIN + 'import "other.netsor"\ndef half(z) = z/2\ny[i] = f(h[i])\nz[i] = half(h[i])\noutput y, z',
        other='import "scales.netsor"\nblock f(x):\n  return half(x)\n',
        scales="def half(z) = z/4\n")
    limit = netsor.Program(program).limit()
    assert [limit[name].var.value[0] for name in ("y", "z")] == [1 / 16, 1 / 4]


def test_only_what_a_file_declares_itself_is_brought_in(folder):
    message = folder(
        main=MAIN + 'import "other.netsor"\ny[i] = half(h[i])\noutput y', other='import "scales.netsor"\ndef one(z) = z\n',
        scales="def half(z) = z/4\n")
    assert "error[N208]: there is no function `half`" in message


def test_a_file_that_is_imported_twice_is_the_same_file(folder):
    program = folder(
        main=MAIN + 'import "a.netsor"\nimport "b.netsor"\nimport "a.netsor"\nimport "./b.netsor"\ny[i] = f(h[i])\noutput y',
        a="def half(z) = z/2\n", b='import "a.netsor"\nblock f(x):\n  return half(x)\n')
    assert "y" in names(program)


def test_other_statements_of_an_imported_file_are_not_run(folder):
    """A whole program can be imported for its blocks, even one whose data are missing."""
    program = folder(
        main=MAIN + 'import "other.netsor"\ny[i] = f(h[i])\noutput y',
        other='width n\nparam q\ndata X[N] = "missing.npy"\ninput z ~ N(0, 1)\nblock f(x):\n  return 2*x\nw = f(z)\noutput w\n')
    assert names(program) == {"h", "m", "g", "y"}
    assert list(program.parameters) == ["s"]


def test_values_of_an_imported_file_are_not_seen(folder):
    message = folder(
        main=MAIN + 'import "other.netsor"\ny[i] = f(h[i])\nz[i] = g2(h[i])\noutput y',
        other="param c = 2\ndef f(z) = c*z\nblock g2(x):\n  return c*x\n")
    assert "error[N210]: `c` is not seen here" in message
    assert "an import brings in `def`s and `block`s only" in message
    assert "a block sees its arguments and what it declares" in message


def test_a_mistake_in_an_imported_file_is_shown_there(folder):
    assert folder(main=MAIN + 'import "other.netsor"\ny[i] = f(h[i])', other="# layers\nblock f(x):\n  return (2*x\n") == """\
error[N102]: `(` is never closed
 --> …/other.netsor:3:10
  |
3 |   return (2*x
  |          ^ opened here
 --> …/main.netsor:6:1
  |
6 | import "other.netsor"
  | --------------------- imported here"""


def test_a_mistake_in_a_block_of_an_imported_file_is_shown_there(folder):
    assert folder(main=MAIN + 'import "other.netsor"\ny[i] = f(h[i])', other="block f(x):\n  return 2*x + z\n") == """\
error[N201]: `z` is not defined
 --> …/other.netsor:2:16
  |
2 |   return 2*x + z
  |                ^
 --> …/main.netsor:7:8
  |
7 | y[i] = f(h[i])
  |        ------- in the block called here"""


def test_mistakes_in_several_blocks_of_a_file_are_shown_together(folder):
    message = folder(
        main=MAIN + 'import "other.netsor"\ny[i] = f(h[i])\nz = undefined',
        other="block f(x):\n  y = x\nblock g2(x, x):\n  return x\nblock fine(x):\n  return x\n")
    assert [line for line in message.splitlines() if line.startswith("error")] == [
        "error[N330]: the block `f` returns nothing", "error[N321]: the argument `x` occurs twice"]


def test_files_that_import_each_other_are_refused(folder):
    message = folder(main=MAIN + 'import "a.netsor"', a='import "b.netsor"\n', b='import "a.netsor"\n')
    assert "error[N212]: files import each other in a circle: a.netsor imports b.netsor imports a.netsor" in message
    assert "…/b.netsor:1:1" in message


def test_a_file_that_imports_itself_is_refused(folder):
    assert "error[N212]" in folder(main=MAIN + 'import "main.netsor"\n')


@pytest.mark.parametrize("file, code", [
    ("missing.netsor", "N119"), ("", "N213"), (".", "N213"), ("..", "N213"), ("x.npy", "N213"), ("/etc/passwd", "N213"),
    ("folder.netsor", "N119"), ("a" * 400 + ".netsor", "N119"), ("binary.netsor", "N115"), ("empty.netsor", "N118"), ("loop.netsor", "N119"),
    ("x/" * 3000 + "y.netsor", "N119"),
])
def test_files_that_cannot_be_imported(folder, tmp_path, file, code):
    (tmp_path / "folder.netsor").mkdir()
    (tmp_path / "binary.netsor").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.netsor").write_text("")
    (tmp_path / "loop.netsor").symlink_to(tmp_path / "loop.netsor")
    message = folder(main=MAIN + f'import "{file}"\ny[i] = 2*h[i]')
    assert message.startswith(f"error[{code}]"), message


def test_imports_are_nested_to_a_limit(folder):
    files = {f"f{k}": f'import "f{k + 1}.netsor"\ndef g{k}(z) = z\n' for k in range(60)}
    assert "error[N113]" in folder(main=MAIN + 'import "f0.netsor"\n', **files, f60="def last(z) = z\n")


def test_a_name_that_could_come_from_a_broken_import_is_not_reported(folder):
    message = folder(main=MAIN + 'import "missing.netsor"\ny[i] = f(h[i])\nz[i] = 2*y[i]\nw = 3*nobody[1]')
    assert message.count("error[") == 1


# --- the library


@pytest.mark.parametrize("name", library())
def test_every_file_of_the_library_says_what_it_has_and_from_where(name):
    source = library_source(name)
    tree = parse(source)
    blocks = [statement.name.name for statement in tree.statements if type(statement).__name__ == "Block"]
    assert blocks
    for block in blocks:
        assert f"{block}(" in tree.docstring, block
    assert any(f" {year}" in tree.docstring for year in range(1980, 2030))


CALLS = {
    "normalization": "y[i] = layernorm(h[i])\nz[i] = rmsnorm(h[i])",
    "attention": "y[i] = attention(h[i], 2)\nz[i] = causal_attention(h[i], 2)\nu[i] = cross_attention(h[i], m[k], 1)\n"
                 "v[i] = linear_attention(h[i], s, 2)",
    "feed_forward": "y[i] = dense(h[i])\nz[i] = dense_bias(h[i], tanh)\nu[i] = mlp(h[i])\nv[i] = gated_mlp(h[i])\nw[i] = residual(h[i])",
    "transformer": "y[i] = encoder_layer(h[i], 2)\nz[i] = post_encoder_layer(h[i], 2)\nu[i] = decoder_layer(h[i], 2)\n"
                   "v[i] = cross_decoder_layer(h[i], m[k], 2)\nw[i] = encoder(h[i], 2, 2)\nx[i] = decoder(h[i], 2, 2)",
    "recurrent": "y[i] = rnn(h[i], s)\nz[i] = gru(h[i], s)\nu[i] = lstm(h[i], s)",
    "convolution": "y[i] = convolution(h[i], s)\nz[i] = circular_convolution(h[i], s)\nconst S[i,k] = 1/(i + k)\n"
                   "u[i] = graph_convolution(h[i], S[i,k])",
}


@pytest.mark.parametrize("name", library())
def test_every_block_of_the_library_can_be_called(name):
    calls = CALLS[name].replace("h[i]", "g[b,i]").replace("[i] =", "[b,i] =")
    program = netsor.parse(f"{MAIN}import std.{name}\n{calls}\n")
    calls = {call.split("(")[0].split()[-1] for call in CALLS[name].splitlines()}
    blocks = {statement.name.name for statement in parse(library_source(name)).statements if type(statement).__name__ == "Block"}
    assert blocks <= calls
    assert program.outputs


WRITTEN_OUT = {
    "layernorm and rmsnorm": ("import std.normalization\ny[i] = layernorm(relu(x[i]))\nz[i] = rmsnorm(relu(x[i]))", """
f[i] = relu(x[i])
y[i] = (f[i] - avg(f[i])) / sqrt(avg(f[i]^2) - avg(f[i])^2 + 1e-6)
z[i] = f[i] / sqrt(avg(f[i]^2) + 1e-6)
"""),
    "gru": ("import std.recurrent\ny[i] = gru(h[i], s)\nz = 2*h[1]", """
matrix A, B, R, D, E, F ~ N(0, 1/n)
q[1] = sigmoid(B @ h[1])
y[1] = (1 - q[1]) * tanh(F @ h[1])
for t in 2..s:
  q[t] = sigmoid(A @ y[t-1] + B @ h[t])
  y[t] = q[t]*y[t-1] + (1 - q[t]) * tanh(E @ (y[t-1] * sigmoid(R @ y[t-1] + D @ h[t])) + F @ h[t])
z = 2*h[1]
"""),
    "convolutions": ("import std.convolution\ny[i] = convolution(h[i], s)\nz[i] = circular_convolution(h[i], s, sw2=2)", """
index o in -1..1
matrix A[o] ~ N(0, 1/(3*n))
matrix B[o] ~ N(0, 2/(3*n))
y[i] = sum(A[o] @ h[i+o] for o if 1 <= i+o and i+o <= s)
z[i] = sum(B[o] @ h[mod(i+o-1, s)+1] for o)
"""),
    "gated and plain feed-forward networks": ("import std.feed_forward\ny[i] = gated_mlp(h[i], r=2)\nz[i] = residual(h[i], tanh, 1, 0.5)", """
width q = 2*n
matrix U, V : (q, n) ~ N(0, 1/n)
matrix D : (n, q) ~ N(0, 1/q)
matrix W ~ N(0, 1/n)
y[i] = D @ (silu(U @ h[i]) * (V @ h[i]))
z[i] = h[i] + 0.5*tanh(W @ h[i])
"""),
}


@pytest.mark.parametrize("with_blocks, written_out", WRITTEN_OUT.values(), ids=WRITTEN_OUT)
def test_blocks_of_the_library_are_what_they_say(with_blocks, written_out):
    first, second = (netsor.parse(f"{MAIN}{CORRELATED}{text}\noutput y, z").limit(samples=2**12) for text in (with_blocks, written_out))
    for name in ("y", "z"):
        np.testing.assert_allclose(first[name].cov.value, second[name].cov.value, rtol=2e-5, atol=1e-9)


def test_the_library_is_shipped():
    """Package data: pyproject ships all of netsor/, as long as nothing excludes it."""
    import tomllib
    from pathlib import Path

    build = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["packages"] == ["netsor"]
    assert "exclude" not in build and "only-packages" not in build["targets"]["wheel"] and "/netsor" in build["targets"]["sdist"]["include"]
