"""`import`: the functions and blocks of another file, or of the library that comes with netsor.

An imported file is a scope of its own: its blocks see its functions and blocks, not those of the file that imports it. Its other
statements are not looked at.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

from netsor.language import blocks, declarations, syntax
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.parse import parse, read
from netsor.language.scope import BlockEntity, FunctionEntity, Scope
from netsor.language.source import SIZE_LIMIT, Source, Span
from netsor.language.state import Frame, fail
from netsor.language.values import Poisoned

NESTING_LIMIT = 30
ENDING = ".netsor"


def bring_in(node: syntax.ImportFile | syntax.ImportStd, frame: Frame) -> None:
    """Declare in this scope what the file declares; N202 where a name means something else already."""
    module = _module(node, frame)
    for name, entity in module.entities.items():
        if not isinstance(entity, FunctionEntity | BlockEntity) or entity.scope is not module:
            continue
        known = frame.scope.entities.get(name)
        if known is None:
            frame.scope.declare(syntax.Identifier(node.span, name), entity)
        elif known is not entity:
            raise NetsorError(Diagnostic(
                "N202", f"`{name}` is already defined", node.span, "brought in again here",
                (Label(known.span, "first defined here"), Label(entity.span, "the other one"))))
    if module.incomplete:
        raise Poisoned


def library() -> list[str]:
    """The names of the files of the library."""
    folder = resources.files("netsor") / "std"
    return sorted(each.name.removesuffix(ENDING) for each in folder.iterdir() if each.name.endswith(ENDING))


def file_with(word: str) -> str:
    """The file of the library that has a block of this name, "" if none has."""
    head = re.compile(rf"^block {re.escape(word)}\(", re.MULTILINE)
    return next((name for name in library() if head.search(library_source(name).text)), "")


def library_source(name: str) -> Source:
    """The text of a file of the library."""
    file = resources.files("netsor") / "std" / f"{name}{ENDING}"
    return Source(file.read_text(encoding="utf-8"), f"std/{name}{ENDING}")


def _module(node: syntax.ImportFile | syntax.ImportStd, frame: Frame) -> Scope:
    """The scope of the imported file, read once for each program."""
    state = frame.state
    path = _library_name(node, frame) if isinstance(node, syntax.ImportStd) else _path(node, frame)
    key = path if isinstance(path, str) else _resolved(path, node)
    chain = state.importing or _itself(state.tree.source)
    if key in chain:
        files = " imports ".join(Path(each).name for each in [*chain[chain.index(key):], key])
        fail("N212", f"files import each other in a circle: {files}", node.span)
    if len(chain) >= NESTING_LIMIT:
        fail("N113", f"imports are nested more than {NESTING_LIMIT} deep", node.span)
    if key not in state.modules:
        before, state.importing = state.importing, [*chain, key]
        try:
            state.modules[key] = _read_module(library_source(path) if isinstance(path, str) else _source(path, node), node, frame)
        finally:
            state.importing = before
    return state.modules[key]


def _itself(source: Source) -> list[str]:
    return [str(source.path.resolve())] if source.path is not None else []


def _library_name(node: syntax.ImportStd, frame: Frame) -> str:
    word = ".".join(part.name for part in node.path)
    name = word.removeprefix("std.")
    known = library()
    if word == name or name not in known:
        hint = frame.scope.suggestion(word, tuple(f"std.{each}" for each in known))
        fail("N213", f"there is no `{word}` in the library", node.path[0].span.to(node.path[-1].span),
             f"std has {', '.join(known)}", (), hint or 'a file of your own is imported by its name: import "file.netsor"')
    return name


def _path(node: syntax.ImportFile, frame: Frame) -> Path:
    """The file, relative to the one that imports it."""
    path = Path(node.file.name)
    if path.suffix != ENDING:
        fail("N213", f"imported files are programs, whose names end in {ENDING}", node.file.span)
    importing = node.span.source.path
    directory = importing.parent if importing is not None else frame.state.directory
    return path if path.is_absolute() or directory is None else directory / path


def _resolved(path: Path, node: syntax.ImportFile) -> str:
    """The one name of a file that is there."""
    try:
        if path.exists() and not path.is_file():
            fail("N119", f"cannot read {path}: it is not a file", node.file.span)
        if path.exists() and path.stat().st_size > 4 * SIZE_LIMIT:
            fail("N114", f"{path} has {path.stat().st_size:,} bytes; a program may have {SIZE_LIMIT:,} characters", node.file.span)
        return str(path.resolve())
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        fail("N119", f"cannot read {path}: {getattr(error, 'strerror', None) or error}", node.file.span)


def _source(path: Path, node: syntax.ImportFile) -> Source:
    try:
        return read(path)
    except NetsorError as error:
        (diagnostic,) = error.diagnostics
        fail(diagnostic.code, diagnostic.message, node.file.span)


def _read_module(source: Source, node: syntax.Node, frame: Frame) -> Scope:
    """The functions and blocks of a file; its mistakes are shown in it, and where it is imported."""
    try:
        tree = parse(source)
    except NetsorError as error:
        raise NetsorError([_imported(each, node.span) for each in error.diagnostics]) from None
    scope = Scope(tree.statements, imported=True)
    inside = Frame(frame.state, scope)
    for statement in tree.statements:
        try:
            match statement:
                case syntax.Function():
                    declarations.function(statement, inside)
                case syntax.Block():
                    blocks.declare(statement, inside)
                case syntax.ImportFile() | syntax.ImportStd():
                    bring_in(statement, inside)
        except NetsorError as error:
            frame.state.diagnostics += [_imported(each, node.span) for each in error.diagnostics]
            scope.incomplete = True
        except Poisoned:
            scope.incomplete = True
    return scope


def _imported(diagnostic: Diagnostic, span: Span) -> Diagnostic:
    if diagnostic.span is not None and diagnostic.span.source is span.source:
        return diagnostic
    return replace(diagnostic, secondary=(*diagnostic.secondary, Label(span, "imported here")))
