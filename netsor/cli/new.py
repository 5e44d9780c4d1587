"""netsor new: a program or a plug-in to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from netsor.cli.command import Command

PROGRAMS = ("mlp", "resnet", "rnn", "attention")
PLUGINS = ("nonlinearity", "rule")


@click.command(cls=Command, short_help="A program or a plug-in to start from.")
@click.argument("name", metavar="NAME")
@click.option("--template", type=click.Choice(PROGRAMS + PLUGINS), help="What to start from; mlp, or nonlinearity.")
@click.option("--plugin", is_flag=True, help="Write NAME.py, a nonlinearity or a rule of your own.")
def command(name, template, plugin) -> None:
    """Write NAME.netsor: a program that runs at once, passes its own test, and explains each of its statements.

    \b
    --template mlp | resnet | rnn | attention
    --plugin [--template nonlinearity | rule]    NAME.py, a plug-in whose own check passes

    A file that is there already is left alone.
    """
    if template is None:
        template = PLUGINS[0] if plugin else PROGRAMS[0]
    elif plugin and template in PROGRAMS:
        raise click.BadParameter(f"{template!r} is a program; plug-ins are {', '.join(PLUGINS)}", param_hint="'--template'")
    plugin = template in PLUGINS
    ending = ".py" if plugin else ".netsor"
    path = Path(name if name.endswith(ending) else name + ending)
    text = _plugin(template, path.stem) if plugin else _template(f"{template}.netsor")
    _write(path, text)
    click.echo(f"wrote {path}\n")
    for line in _next(path, plugin):
        click.echo(f"    {line}")


def _template(file: str) -> str:
    return (resources.files("netsor.cli") / "templates" / file).read_text(encoding="utf-8")


def _plugin(template: str, function: str) -> str:
    """The plug-in's text; its function is called as the file is."""
    from keyword import iskeyword

    from netsor.language.grammar import reserved_words
    from netsor.language.scope import is_built_in

    hint = "'NAME'"
    if not (function.isidentifier() and function.isascii() and function[0].isalpha()):
        raise click.BadParameter(
            f"programs cannot call a function {function!r}: letters, digits and _, beginning with a letter", param_hint=hint)
    if is_built_in(function) or function in reserved_words() or iskeyword(function):
        raise click.BadParameter(f"there is already a {function!r}; choose another name", param_hint=hint)
    title = "".join(part[:1].upper() + part[1:] for part in function.split("_"))
    return _template(f"{template}.py.txt").replace("FUNCTION", function).replace("CLASS", title)


def _write(path: Path, text: str) -> None:
    from netsor.language.diagnostics import Diagnostic, NetsorError

    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise NetsorError(Diagnostic(
            "N119", f"{path} is there already and is left as it is", hint="choose another name, or remove the file")) from None
    except OSError as error:
        raise NetsorError(Diagnostic("N119", f"cannot write {path}: {error.strerror}")) from None


def _next(path: Path, plugin: bool) -> list[str]:
    """The commands to go on with."""
    shown = f"'{path}'" if " " in str(path) else str(path)
    if plugin:
        return [f"python {shown}", f"netsor run PROGRAM.netsor --plugin {shown}"]
    return [f"netsor run {shown}", f"netsor test {shown}", f"netsor fmt {shown}"]
