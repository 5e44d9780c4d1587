"""The command as a process: start-up time, terminals, signals, pipes."""

import os
import pty
import re
import resource
import signal
import time

import pytest


def cpu_seconds(process) -> float:
    """Processor time of a process that has been waited for (wall time on a busy machine says little)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.communicate(timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # what Linux says when the other side is closed
        return b""


@pytest.fixture
def terminal():
    """The two ends of a terminal: ours, and the one for a process."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


def test_help_is_fast(outside):
    """Aim: 0.3 s; four times that is allowed on a busy machine."""
    assert min(cpu_seconds(outside("--help")) for _ in range(2)) < 1.2


def test_help_imports_nothing_heavy(outside):
    process = outside("--help", PYTHONPROFILEIMPORTTIME="1")
    _, err = process.communicate(timeout=60)
    assert not re.search(rb"\| +(numpy|scipy|sympy|lark|rich)$", err, re.MULTILINE)


def test_the_flagship_is_fast_cold(outside, attention):
    """Aim: 1.5 s; four times that processor time is allowed (two cores work)."""
    assert cpu_seconds(outside("run", attention)) < 6


def test_no_progress_and_no_colour_without_a_terminal(outside, attention):
    process = outside("run", attention, "--samples", 2**20, "--output", "y")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == b"" and b"\x1b" not in out


def test_progress_on_a_terminal_then_ctrl_c_shows_what_is_done(outside, attention, terminal):
    ours, theirs = terminal
    process = outside("run", attention, "--samples", 2**23, "--output", "y", stderr=theirs)
    os.close(theirs)
    seen, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        seen += read(ours)
        done = [int(number.replace(b",", b"")) for number in re.findall(rb"([\d,]{7,}) of", seen)]
        if done and max(done) >= 2**20 and re.search(rb"\d/s", seen):  # every randomisation has something, and a rate is known
            break
    process.send_signal(signal.SIGINT)
    while chunk := read(ours):
        seen += chunk
    out, _ = process.communicate(timeout=60)
    assert b"sampling" in seen and re.search(rb"\d/s", seen)
    assert process.returncode == 0
    found = re.search(rb"interrupted: ([\d,]+) of 8,388,608 samples of the scores", out)
    assert 0 < int(found[1].replace(b",", b"")) < 2**23
    assert re.search(rb"(\b1 +|variance )0\.39\d+\(\d+\)", out)


def test_ctrl_c_before_there_is_anything(outside, attention, terminal):
    ours, theirs = terminal
    process = outside("run", "-", stdin=theirs)
    time.sleep(1.5)  # it waits for the program on the standard input
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    os.close(theirs)
    assert process.returncode in (130, -signal.SIGINT) and out == b"" and b"Traceback" not in err


def test_errors_are_coloured_on_a_terminal_unless_no_color_is_set(outside, program, terminal):
    path = program("width n\nx = \n")
    ours, theirs = terminal
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        process = outside("run", path, stderr=theirs, **variables)
        assert process.wait(timeout=60) == 1
        assert (b"\x1b[" in read(ours)) is coloured
    os.close(theirs)


def test_a_closed_pipe_is_silent(outside):
    process = outside("list")
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("seconds", [2.5, pytest.param(6, marks=pytest.mark.slow)])
def test_a_signal_to_the_whole_group_leaves_no_traceback_and_no_warning(outside, attention, number, status, seconds):
    """As a terminal sends Ctrl-C: to the workers too, which may still be importing."""
    process = outside("simulate", attention, "--runs", 10**7, "--output", "y", "--workers", 3, start_new_session=True)
    time.sleep(seconds)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (status, *((130, -number) if number == signal.SIGINT else ())), err
    assert err in (b"", b"interrupted before there was a result\n")
    assert number == signal.SIGTERM or process.returncode != 0 or b"of 10,000,000 runs" in out
