"""``netsor fmt``: files are written whole, only if they mean the same, and only where asked."""

import os

import pytest

UGLY = '"""d"""\nwidth n\nx=relu( y )# c\n'
NEAT = '"""d"""\nwidth n\nx = relu(y)  # c\n'


def test_a_file_is_formatted_in_place(cli, program):
    path = program(UGLY)
    path.chmod(0o640)
    outcome = cli("fmt", path)
    assert (outcome.status, outcome.out, outcome.err) == (0, f"formatted  {path}\n", "1 file formatted\n")
    assert path.read_text(encoding="utf-8") == NEAT and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == [path.name]
    outcome = cli("fmt", path)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "1 file unchanged\n")


def test_line_ends_and_a_byte_order_mark_are_changes(cli, program):
    for content in (NEAT.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + NEAT.encode()):
        path = program("")
        path.write_bytes(content)
        assert cli("fmt", "--check", path).status == 1
        assert cli("fmt", path).status == 0 and path.read_bytes() == NEAT.encode()


def test_check_lists_what_would_change_and_writes_nothing(cli, program, tmp_path):
    ugly, neat = program(UGLY, "ugly.netsor"), program(NEAT, "neat.netsor")
    outcome = cli("fmt", "--check", tmp_path)
    assert (outcome.status, outcome.out) == (1, f"would change  {ugly}\n")
    assert outcome.err == "1 file would change, 1 file unchanged\n"
    assert ugly.read_text() == UGLY and cli("fmt", "--check", neat).status == 0


def test_a_difference_is_shown_and_nothing_is_written(cli, program):
    path = program(UGLY)
    outcome = cli("fmt", "--diff", path)
    assert outcome.status == 0 and path.read_text() == UGLY
    assert outcome.out.splitlines()[-2:] == ["-x=relu( y )# c", "+x = relu(y)  # c"]
    assert cli("fmt", "--diff", "--check", path).status == 1


def test_the_standard_input_goes_to_the_standard_output(cli):
    outcome = cli("fmt", "-", stdin=UGLY.encode())
    assert (outcome.status, outcome.out, outcome.err) == (0, NEAT, "")
    outcome = cli("fmt", "-", "--check", stdin=UGLY.encode())
    assert (outcome.status, outcome.out) == (1, "would change  <stdin>\n")


def test_a_file_with_errors_stays_as_it_is_and_others_are_formatted(cli, program, tmp_path):
    broken, ugly = program("x = (1\ny=2\n", "broken.netsor"), program(UGLY, "ugly.netsor")
    outcome = cli("fmt", broken, ugly, tmp_path / "absent.netsor")
    assert outcome.status == 1 and "error[N102]" in outcome.err and "error[N119]" in outcome.err
    assert outcome.err.endswith("1 file formatted, 2 files with errors\n")
    assert broken.read_text() == "x = (1\ny=2\n" and ugly.read_text() == NEAT
    outcome = cli("fmt", "-", stdin=b"x = (1\n")
    assert outcome.status == 1 and outcome.out == "" and "N102" in outcome.err


def test_a_program_need_not_make_sense(cli, program):
    """Names and kinds are not looked at: what is being written can be formatted."""
    assert cli("fmt", program("x=undefined( 1 )\n")).status == 0


def test_a_change_of_meaning_is_a_bug_and_leaves_the_file_alone(cli, program, monkeypatch):
    from netsor.language import format as package

    monkeypatch.setattr(package, "align_comments", lambda lines: "x = 2\n")
    path = program(UGLY)
    outcome = cli("fmt", path)
    assert outcome.status == 1 and "error[N901]" in outcome.err and path.read_text() == UGLY


def test_a_link_stays_a_link(cli, program, tmp_path):
    path = program(UGLY)
    link = tmp_path / "link.netsor"
    link.symlink_to(path)
    assert cli("fmt", link).status == 0 and link.is_symlink() and path.read_text() == NEAT


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_read_only_file_is_refused(cli, program):
    path = program(UGLY)
    path.chmod(0o400)
    outcome = cli("fmt", path)
    assert outcome.status == 1 and "cannot write" in outcome.err and path.read_text() == UGLY


def test_a_file_that_cannot_be_written_stays_as_it_is(cli, program, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    path = program(UGLY)
    outcome = cli("fmt", path)
    assert outcome.status == 1 and "No space left" in outcome.err
    assert path.read_text() == UGLY and os.listdir(path.parent) == [path.name]


def test_usage_errors(cli, program, tmp_path):
    assert cli("fmt", tmp_path).status == 2  # no programs in it
    path = program(UGLY)
    assert cli("fmt", "-", path, stdin=b"x = 1\n").status == 2 and path.read_text() == UGLY
