"""0 all is well, 1 the program is at fault, 2 the command line is; never a traceback."""

import pytest

from netsor import __version__


def test_version(cli):
    outcome = cli("--version")
    assert (outcome.status, outcome.out) == (0, f"netsor {__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "FILE", "--set", "s"),
        ("run", "FILE", "--set", "=3"),
        ("run", "FILE", "--set", "s="),
        ("run", "FILE", "--set", "s=1", "--set", "s=2"),
        ("run", "FILE", "--data", "X"),
        ("run", "FILE", "--samples", "0"),
        ("run", "FILE", "--samples", "-5"),
        ("run", "FILE", "--samples", "many"),
        ("run", "FILE", "--seed", "-1"),
        ("run", "FILE", "--seed", "1.5"),
        ("run", "FILE", "--no-such-option"),
        ("run", "FILE", "OTHER"),
        ("check", "FILE", "--show", "nothing"),
        ("test",),
        ("rum", "FILE"),
        ("FILE",),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(cli, relu, arguments):
    outcome = cli(*(relu if argument == "FILE" else argument for argument in arguments))
    assert outcome.status == 2 and outcome.out == ""
    assert "Usage: netsor" in outcome.err and "Error:" in outcome.err


def test_a_mistyped_command_is_recognised(cli):
    assert "did you mean 'run'?" in cli("rum", "x.netsor").err
    assert "netsor run x.netsor" in cli("x.netsor").err


def test_a_file_that_cannot_be_read(cli, tmp_path, program):
    binary = tmp_path / "binary.netsor"
    binary.write_bytes(b"width n\n\xff\xfe")
    for path, code in ((tmp_path / "none.netsor", "N119"), (tmp_path, "N119"), (binary, "N115"), (program(""), "N118")):
        outcome = cli("run", path)
        assert outcome.status == 1 and outcome.out == "" and outcome.err.startswith(f"error[{code}]"), outcome.err


def test_binary_standard_input(cli):
    outcome = cli("run", "-", stdin=b"width n\n\x80")
    assert outcome.status == 1 and "the standard input is not text in UTF-8: byte 9, in line 2" in outcome.err


def test_a_mistake_in_the_program_is_shown_in_its_place(cli, program):
    path = program("width n\ninput h ~ N(0, 1)\nx = relo(h)\noutput x\n")
    outcome = cli("run", path)
    assert outcome.status == 1 and outcome.out == ""
    assert f"{path}:3:5" in outcome.err and "^^^^" in outcome.err and "relu" in outcome.err
    assert "\x1b" not in outcome.err


def test_a_diverging_score_is_refused(cli, program):
    outcome = cli("run", program("width n\ninput h ~ N(0, 1)\np = dot(h, h) / sqrt(n)\noutput p\n"))
    assert outcome.status == 1 and "error[N401]" in outcome.err and "sqrt(n)" in outcome.err


def test_an_unknown_parameter_is_an_error_with_near_names(cli, program):
    path = program("width n\nparam heads = 2\nindex a in 1..heads\ninput h[a] ~ N(0, 1)\noutput h\n")
    outcome = cli("run", path, "--set", "head=3")
    assert outcome.status == 1 and "error[N205]" in outcome.err and "did you mean heads?" in outcome.err


def test_an_unknown_output_is_an_error_with_near_names(cli, program):
    path = program("width n\ninput hidden ~ N(0, 1)\nother = relu(hidden)\nfinal = tanh(other)\noutput final\n")
    assert "did you mean final?" in cli("run", path, "--output", "finel").err
    assert "add it there: output other" in cli("run", path, "--output", "other").err
    outcome = cli("run", path, "--output", "zzz")
    assert outcome.status == 1 and "its outputs are final" in outcome.err


def test_samples_that_do_not_fit_are_refused_before_anything_is_computed(cli, attention):
    outcome = cli("run", attention, "--samples", 10**12)
    assert outcome.status == 1 and "error[N521]" in outcome.err
    assert "TiB of memory" in outcome.err and "ask for at most" in outcome.err


def test_samples_do_not_matter_where_nothing_is_sampled(cli, relu):
    assert cli("run", relu, "--samples", 10**12).status == 0


def test_a_plugin_at_fault(cli, relu, tmp_path):
    plugin = tmp_path / "broken.py"
    plugin.write_text("1 / 0\n")
    for path, said in ((plugin, "ZeroDivisionError"), (tmp_path / "none.py", "there is no Python file")):
        outcome = cli("run", relu, "--plugin", path)
        assert outcome.status == 1 and outcome.err.startswith("error[N520]") and said in outcome.err


@pytest.mark.parametrize(
    "error, code, said",
    [
        (ZeroDivisionError("division by zero"), "N901", "this is a bug in netsor: ZeroDivisionError: division by zero"),
        (RecursionError("too deep"), "N901", "RecursionError"),
        (MemoryError("Unable to allocate 58 TiB"), "N521", "58 TiB"),
    ],
)
def test_failures_of_netsor_itself_are_one_message(cli, relu, monkeypatch, error, code, said):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("netsor.api.Program.limit", fail)
    outcome = cli("run", relu)
    assert outcome.status == 1 and outcome.err.startswith(f"error[{code}]") and said in outcome.err
    assert "Traceback" not in outcome.err
    assert cli("run", relu, "--json").json["error"][0]["code"] == code


def test_debug_shows_the_traceback(cli, relu, monkeypatch):
    monkeypatch.setattr("netsor.api.Program.limit", lambda *args, **kwargs: 1 / 0)
    assert "Traceback" in cli("run", relu, "--debug").err
    monkeypatch.setenv("NETSOR_DEBUG", "1")
    assert "Traceback" in cli("run", relu).err


def test_interrupted_before_there_is_a_result(cli, relu, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("netsor.api.Program.limit", stop)
    outcome = cli("run", relu)
    assert (outcome.status, outcome.out, outcome.err) == (130, "", "interrupted before there was a result\n")


def test_help_of_every_command(cli):
    for command in ("run", "check", "test", "explain", "list"):
        outcome = cli(command, "--help")
        assert outcome.status == 0 and f"Usage: netsor {command}" in outcome.out
        assert max(map(len, outcome.out.splitlines())) <= 110
