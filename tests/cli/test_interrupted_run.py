"""Ctrl-C while sampling: what is done is shown, and how much that is; warnings do not stop a run."""

import re


from netsor.language.diagnostics import Diagnostic, Severity


WANTED = 2**18
EACH = 16 * 1024  # a chunk of every replicate has a multiple of 1024 samples


def test_the_text_says_how_many_samples_of_how_many(cli, attention, stop_at):
    """Twenty chunks: every replicate has one or, if several finished at once, a few more."""
    stop_at(20, "run")
    outcome = cli("run", attention, "--samples", WANTED, "--output", "y")
    assert outcome.status == 0 and outcome.err == ""
    done = int(re.search(r"interrupted: ([\d,]+) of 262,144 samples of the scores", outcome.out).group(1).replace(",", ""))
    assert done % EACH == 0 and EACH <= done < WANTED
    assert f"by 16 x {done // 16} samples of the scores" in outcome.out


def test_the_json_says_so_too(cli, attention, stop_at):
    stop_at(20, "run")
    found = cli("run", attention, "--samples", WANTED, "--output", "y", "--json").json
    assert found["interrupted"] == {"samples": found["samples"], "wanted": WANTED}
    assert found["samples"] % EACH == 0 and EACH <= found["samples"] < WANTED


def test_with_nothing_done_there_is_a_sentence_and_status_130(cli, attention, stop_at):
    stop_at(1, "run")
    outcome = cli("run", attention, "--samples", 2**18)
    assert (outcome.status, outcome.out, outcome.err) == (130, "", "interrupted before there was a result\n")


def test_warnings_are_shown_and_do_not_change_the_result(cli, relu, monkeypatch):
    from netsor import language

    plain = cli("run", relu, "--json").json
    load = language.load_program

    def load_with_warning(*args, **kwargs):
        program = load(*args, **kwargs)
        program.warnings.append(Diagnostic("N407", "this grows fast", severity=Severity.WARNING))
        return program

    monkeypatch.setattr(language, "load_program", load_with_warning)
    outcome = cli("run", relu)
    assert outcome.status == 0 and outcome.err == "warning[N407]: this grows fast\n\n" and "variance 1" in outcome.out
    found = cli("run", relu, "--json")
    assert found.err == "" and found.json["warnings"][0]["severity"] == "warning"
    assert found.json["variables"] == plain["variables"]
    checked = cli("check", relu)
    assert checked.status == 0 and "1 warning;" in checked.out
