"""How a diagnostic is drawn: the golden files show whole messages, these are the corners."""

from netsor.language.diagnostics import LINE_WIDTH, Diagnostic, Label, NetsorError, Severity, render
from netsor.language.source import Source


def span(text: str, marked: str, name: str = "p.netsor"):
    source = Source(text, name)
    start = text.index(marked)
    return source.span(start, start + len(marked))


def test_without_a_place():
    assert render(Diagnostic("N205", "no such parameter", hint="did you mean H?")) == (
        "error[N205]: no such parameter\n  = hint: did you mean H?")


def test_warnings_say_so():
    assert render(Diagnostic("N406", "grows", severity=Severity.WARNING)).startswith("warning[N406]: grows")


def test_tabs_and_wide_characters_keep_the_caret_under_its_place():
    excerpt, caret = render(Diagnostic("N100", "m", span("\tx = y", "y"))).splitlines()[-2:]
    assert excerpt.index("y") == caret.index("^")
    wide = render(Diagnostic("N100", "m", span("# 宽宽 y", "y"))).splitlines()[-1]
    assert wide.index("^") == len("1 | # ") + 4 + 1  # two characters of two columns each, and a space


def test_a_span_over_lines_is_marked_to_the_end_of_its_first_line():
    assert render(Diagnostic("N100", "m", span("x = (a\n + b)", "(a\n + b)"))).splitlines()[-1] == "  |     ^^"


def test_long_lines_are_cut_around_the_place():
    text = "x = " + "a + " * 100_000 + "here" + " + b" * 100_000
    lines = render(Diagnostic("N100", "m", span(text, "here"))).splitlines()
    assert max(map(len, lines)) <= LINE_WIDTH + 8
    assert lines[-2].index("here") == lines[-1].index("^^^^")


def test_labels_in_another_file_are_introduced_by_its_name():
    first, other = span("x = y", "y", "one.netsor"), span("y = 1", "y", "two.netsor")
    text = render(Diagnostic("N202", "m", first, secondary=(Label(other, "first defined here"),)))
    assert " --> one.netsor:1:5" in text and " --> two.netsor:1:1" in text


def test_roles_can_be_painted():
    painted = render(Diagnostic("N100", "m", span("x = y", "y"), "l"), lambda text, role: f"<{role}>{text}")
    assert "<error>error[N100]<message>: m" in painted and "<caret>^ l" in painted


def test_an_error_lists_its_diagnostics_in_the_order_of_the_text_each_once():
    source = Source("x = y\nz = w\n")
    first, second = (Diagnostic("N201", m, source.span(k, k + 1)) for m, k in (("y", 4), ("w", 10)))
    assert NetsorError([second, first, second]).diagnostics == [first, second]
