"""Programs whose parameters stay symbols: what a derivation reads.

A parameter whose number decides the structure of the program (the length of a loop, a constant subscript) cannot stay a symbol.
It is found by trying: where the elaboration asks for a number, the parameter takes its value and the program is read again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from netsor.ir.program import Program
from netsor.language import syntax
from netsor.language.constants import NeedsNumber
from netsor.language.diagnostics import NetsorError
from netsor.language.elaborate import elaborate
from netsor.language.state import Free

TRIALS = (4, Fraction(1, 2), 1, 0)  # what parameters without a value are tried at, where numbers decide whether the program is one

WITHOUT_VALUE = ("N503", "N505")  # said of parameters without a value and of data without numbers


def elaborate_free(tree: syntax.Program, **options: Any) -> Program:
    """As :func:`netsor.language.elaborate.elaborate`, with every parameter a symbol that is not set and whose number is not needed.

    :raises NetsorError: with what is wrong with the program when its parameters have their values."""
    pinned: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()  # those of the pinned whose numbers the elaboration has asked for
    parameters = [setting for each in tree.statements if isinstance(each, syntax.Param) for setting in each.settings]
    everything = frozenset(setting.name.name for setting in parameters)
    sizes = _in_ranges(tree)
    tried = {setting.name.name for setting in parameters if setting.default is None} - sizes - set(options.get("settings", ()))
    trials = TRIALS if tried else TRIALS[:1]
    while True:
        failure = None
        for trial in trials:
            try:
                return elaborate(tree, **options, free=Free(pinned, trial, sizes))
            except NeedsNumber as need:
                more = need.names - pinned
                needed |= more
                break
            except NetsorError as error:
                failure = failure or error
        else:
            more = everything - pinned  # whatever it is, it is to be said about the numbers in force
        try:
            if not more:
                return elaborate(tree, **options)
            pinned |= more
            if failure is not None and pinned >= everything:
                elaborate(tree, **options)
        except NetsorError as error:
            raise _worse(failure or error, error, needed) from None


def _worse(failure: NetsorError, error: NetsorError, needed: frozenset[str]) -> NetsorError:
    """What to report where a program fails with free parameters and with numbers: that a number is missing is no answer, unless the
    program needs it."""
    kept = [
        each for each in error.diagnostics
        if each.code not in WITHOUT_VALUE or each in failure.diagnostics or (each.span is not None and each.span.text in needed)]
    return NetsorError(kept) if any(each.code not in WITHOUT_VALUE for each in kept) else failure


def _in_ranges(tree: syntax.Program) -> frozenset[str]:
    """The names that occur in the bounds of ranges and the sizes of arrays."""
    found: set[str] = set()
    pending: list[tuple[syntax.Node, bool]] = [(each, False) for each in tree.statements]
    while pending:
        node, inside = pending.pop()
        inside = inside or isinstance(node, syntax.Range)
        if inside and isinstance(node, syntax.Name):
            found.add(node.dotted)
        if isinstance(node, syntax.Data):
            pending += [(each, True) for each in node.element.subscripts]
        pending += [(child, inside) for child in node.children()]
    return frozenset(found)
