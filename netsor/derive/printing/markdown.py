"""A derivation as Markdown, with mathematics that code hosts and notebooks render."""

from __future__ import annotations

from netsor.derive.printing.latex import equations, remark
from netsor.derive.printing.notes import notes


def document(derivation) -> str:
    """Headings, hypotheses, and one displayed formula for each statement."""
    found = [f"# {derivation.program.name}: the limit as ${derivation.program.width} \\to \\infty$", ""]
    found += [f"- {each.markdown()}" for each in derivation.premises()] + [""]
    for title, statements in derivation.sections():
        found += [f"## {title}", ""]
        if title == "Given":
            found += [f"- {each.markdown()}" for each in derivation.inputs] + [""]
        for statement in statements:
            if statement.law is not None:
                found += [statement.law.markdown(), ""]
            found += ["$$", "\\begin{aligned}", equations(statement), "\\end{aligned}", "$$", ""]
            if remark(statement):
                found += [remark(statement), ""]
    found += [f"{note}\n" for note in notes(derivation, latex=True)]
    return "\n".join(found).rstrip() + "\n"
