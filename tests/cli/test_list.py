"""``netsor list``: programs and nonlinearities, one a line."""

from netsor import nonlinearities
from netsor.cli.list import first_line


def test_every_nonlinearity_is_listed_with_its_parameters(cli):
    text = cli("list").out
    listed = text[text.index("nonlinearities") :].splitlines()[1:]
    assert [line.split("(")[0].strip() for line in listed] == list(nonlinearities.names())
    assert "leaky_relu(x, slope=0.01) phi(x) = x for x > 0, slope * x otherwise" in [
        " ".join(line.split()) for line in listed
    ]


def test_programs_are_listed_with_the_first_line_of_their_docstring(cli):
    text = cli("list").out
    assert "attention.netsor" in text.split("nonlinearities")[0]


def test_blocks_are_listed_with_what_brings_them_in(cli):
    text = cli("list").out
    listed = text[text.index("\nblocks\n"):text.index("\nnonlinearities\n")]
    assert "import std.attention attention(x[i], H, beta=1)" in [" ".join(line.split()) for line in listed.splitlines()]
    assert "encoder_layer(x[i], H, r=4, phi=gelu, eps=1e-6)" in listed


def test_the_first_line_of_a_docstring(program):
    assert first_line(program('# comment\n"""\nFirst.\nSecond."""\nwidth n\n')) == "First."
    assert first_line(program("width n\n")) == ""
