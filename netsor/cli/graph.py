"""netsor graph: the program as a picture."""

from __future__ import annotations

import contextlib

import click

from netsor.cli import options
from netsor.cli.command import Command

ENDINGS = {"svg": (".svg",), "mermaid": (".mmd", ".mermaid"), "dot": (".dot", ".gv")}


@click.command(cls=Command, short_help="The program as a graph: SVG, Mermaid or Graphviz.")
@options.file_argument
@click.option("--format", "format_", type=click.Choice(tuple(ENDINGS)),
              help="Without it: what the name of the file ends in, svg on the standard output.")
@click.option("--out", metavar="FILE", help="Write it to a file that ends in .svg, .mmd, .mermaid, .dot or .gv.")
@click.option("--all-layers", is_flag=True, help="Draw every pass of a long loop; else those in the middle are one node.")
@options.set_option
@options.data_option
@options.plugin_option
def command(file, format_, out, all_layers, settings, data, plugins) -> None:
    """Draw the program in FILE: what is defined, of which kind, from what, and by which matrices.

    \b
    slanted       input
    round, blue   G   vector, Gaussian given the random scalars
    cut, orange   H   vector, not Gaussian
    oval, green   C   scalar, a number in the limit
    pointed, pink S   scalar, random in the limit
    double line   output;  dashed line: not named by the program
    """
    from netsor.cli.output_file import OutputFile
    from netsor.graph import draw, graph_of

    endings = ENDINGS[format_] if format_ else tuple(ending for each in ENDINGS.values() for ending in each)
    with OutputFile(out, endings, "--out") if out else contextlib.nullcontext() as target:
        program = options.load(file, settings, data, plugins).ir
        if format_ is None:
            ending = target.path.suffix.lower() if target else ".svg"
            format_ = next(name for name, own in ENDINGS.items() if ending in own)
        text = draw(graph_of(program, fold=not all_layers), format_)
        if target is None:
            click.echo(text, nl=False)
        else:
            target.file.write(text.encode("utf-8"))
            target.complete()
