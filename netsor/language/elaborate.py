"""Tree to program: names, parameters, loops and data resolved, families made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netsor.ir.facts import uses
from netsor.ir.program import Family, Program
from netsor.language import (  # noqa: F401 (the imports register what evaluates each node)
    blocks, calls, conditions, declarations, definitions, imports, laws, outputs, reductions, references, syntax,
)
from netsor.language.check import settle_kinds
from netsor.language.constants import NeedsNumber
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.draws import arguments_first
from netsor.language.scope import ParameterEntity, declared_names
from netsor.language.state import STATEMENT_LIMIT, Frame, Free, State, TooMuchWork, fail
from netsor.language.values import Poisoned

ERROR_LIMIT = 20


def elaborate(
    tree: syntax.Program, *, settings: Mapping[str, Any] = {}, data: Mapping[str, Any] = {}, name: str = "program",
    directory: Path | None = None, rules: Mapping[str, Any] = {}, free: Free | None = None
) -> Program:
    """The program that a syntax tree describes.

    `settings` are values for parameters (numbers, or constant expressions as text), `data` arrays or files for `data`
    statements, `directory` is where relative file names start, `rules` are plug-in rules by name.  With `free`, parameters that are
    not set stay symbols (:mod:`netsor.language.free`).
    Raises NetsorError with one diagnostic for each statement that is at fault (codes N2xx to N5xx).
    """
    state = State(tree, settings, data, directory, rules, free)
    try:
        for statement in tree.statements:
            _run(statement, Frame(state, state.scope))
            if len(state.diagnostics) >= ERROR_LIMIT:
                break
        else:
            _check_settings(state)
        if not state.diagnostics:
            return _program(state, name)
    except RecursionError:
        state.diagnostics.append(Diagnostic("N113", "this program is nested too deeply", state.current))
    except NetsorError as error:
        state.diagnostics += error.diagnostics
    except NeedsNumber:
        raise
    except Exception as error:
        bug = Diagnostic("N901", f"netsor failed here, which is a bug: {type(error).__name__}: {error}", state.current)
        raise NetsorError([*state.diagnostics, bug]) from error
    raise NetsorError(state.diagnostics[:ERROR_LIMIT])


def _run(statement: syntax.Node, frame: Frame) -> None:
    """Elaborate one statement; an error in it is kept, and what it defines counts as explained."""
    state = frame.state
    if statement in state.failed:
        _poison(statement, frame)  # in a call of a block the names are new ones
        return
    state.statements += 1
    state.current = statement.span
    if state.statements > STATEMENT_LIMIT:
        raise TooMuchWork(Diagnostic(
            "N512", f"with its loops written out this program has more than {STATEMENT_LIMIT:,} statements",
            statement.span))
    try:
        _statement(statement, replace(frame, owner=_owner(statement)))
        return
    except TooMuchWork:
        raise
    except NetsorError as error:
        state.diagnostics += error.diagnostics
    except Poisoned:
        pass
    state.failed.add(statement)
    _poison(statement, frame)


def _poison(statement: syntax.Node, frame: Frame) -> None:
    for name in _defined(statement):
        frame.scope.poison(name)
    if isinstance(statement, syntax.ImportFile | syntax.ImportStd):
        frame.scope.incomplete = True


def _statement(statement: syntax.Node, frame: Frame) -> None:
    match statement:
        case syntax.Definition():
            definitions.definition(statement, frame, _run)
        case syntax.Loop():
            definitions.loop(statement, frame, _run)
        case syntax.Input():
            laws.inputs(statement, frame)
        case syntax.Matrix():
            laws.matrices(statement, frame)
        case syntax.Const():
            declarations.const(statement, frame)
        case _ if frame.names:
            fail("N323", "a loop repeats definitions, `matrix`, `input`, `const` and loops only", statement.span)
        case syntax.Width():
            declarations.width(statement, frame)
        case syntax.Param():
            declarations.param(statement, frame)
        case syntax.IndexIn() | syntax.IndexLike():
            declarations.index(statement, frame)
        case syntax.Data():
            declarations.data(statement, frame)
        case syntax.Function():
            declarations.function(statement, frame)
        case syntax.Output():
            outputs.output(statement, frame)
        case syntax.Expect():
            outputs.expect(statement, frame)
        case syntax.Block():
            blocks.declare(statement, frame)
        case syntax.ImportFile() | syntax.ImportStd():
            imports.bring_in(statement, frame)
        case _:
            raise TypeError(type(statement).__name__)


def _defined(statement: syntax.Node) -> tuple[str, ...]:
    """The names that a statement would have defined."""
    return tuple(declared_names((statement,)))


def _owner(statement: syntax.Node) -> str:
    match statement:
        case syntax.Definition(element=element):
            return element.name.name
    return ""


def _check_settings(state: State) -> None:
    for name in state.settings:
        entity = state.scope.entities.get(name)
        if name in state.scope.poisoned or (isinstance(entity, ParameterEntity) and name in state.parameters):
            continue
        hint = state.scope.suggestion(name, tuple(state.parameters))
        message = f"`{name}` is set from outside, but it is not a parameter of this program"
        where = (Label(entity.span, "defined here"),) if entity is not None else ()
        state.diagnostics.append(Diagnostic("N205", message, None, "", where, hint))
    arrays = {array.name for array in state.arrays}
    for name in state.data:
        if name not in arrays and name not in state.scope.poisoned:
            hint = state.scope.suggestion(name, tuple(arrays))
            message = f"there are data for `{name}`, but no such `data` statement"
            state.diagnostics.append(Diagnostic("N209", message, hint=hint))


def _program(state: State, name: str) -> Program:
    if not any(isinstance(statement, syntax.Output) for statement in state.tree.statements):
        outputs.default_outputs(state)
    if state.width is None or not state.families:
        what = "this program computes nothing" if state.width else "this program has no width"
        hint = "" if state.width else "begin with: width n"
        raise NetsorError(Diagnostic("N207", what, state.tree.source.span(0, 0), hint=hint))
    families = arguments_first(_needed(state))
    for order, family in enumerate(families):
        family.order = order
    settle_kinds(families)
    for family, kind in state.annotations:
        definitions.check_annotation(family, kind, "the transpose of a matrix in it is in use too")
    return Program(
        name=name, width=state.width, widths={each: width.ratio for each, width in state.widths.items()},
        families=families, matrices=state.matrices, arrays=state.arrays, outputs=outputs.name_outputs(state.outputs),
        expectations=state.expectations, parameters=state.parameters, changed=frozenset(state.settings),
        docstring=state.tree.docstring, source=state.tree.source, warnings=state.warnings,
        undetermined=frozenset(state.undetermined), width_spans=state.width_spans)


def _needed(state: State) -> list[Family]:
    """All families but hidden ones that nothing uses: left behind where an index came to need its values one by one."""
    used: set[Family] = set()
    kept: list[Family] = []
    for family in reversed(state.families):
        if not family.hidden or family in used:
            kept.append(family)
            used.update(uses(family))
    kept.reverse()
    return kept
