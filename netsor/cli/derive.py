"""netsor derive: the infinite-width limit as formulas."""

from __future__ import annotations

import click

from netsor.cli import options
from netsor.cli.command import Command
from netsor.language.selection import selected

FORMATS = ("text", "markdown", "latex", "sympy", "json")


@click.command(cls=Command, short_help="The infinite-width limit of a program, as formulas.")
@options.file_argument
@options.set_option
@options.data_option
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Only this output.  Repeatable.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
              help="text; Markdown with mathematics; a LaTeX document; Python code that makes the SymPy formulas; JSON.")
@click.option("--steps", is_flag=True, help="Every application of a rule on its own line, with its citation.")
@options.json_option
@options.plugin_option
def command(file, settings, data, outputs, form, steps, as_json, plugins) -> None:
    """The infinite-width limit of the program in FILE (- for the standard input) as formulas: kernels, the law of the
    scores, the law of the outputs given the scores, and what follows for the outputs alone.

    Parameters stay symbols unless --set gives them a value; those whose numbers decide the structure of the program
    (the length of a loop) take the program's own.
    """
    from netsor.derive import Derivation

    program = options.load(file, settings, data, plugins, free=True)
    if form == "text" and not as_json:
        options.warn(program.ir.warnings)
    derivation = Derivation(program.ir, selected(program.ir, outputs), steps)
    if as_json or form == "json":
        from netsor.cli.json_output import dump

        click.echo(dump(derivation.json()))
        return
    write = {"text": derivation.text, "markdown": derivation.markdown, "latex": derivation.latex, "sympy": derivation.sympy_code}
    click.echo(write[form](), nl=False)
