"""Programs whose parameters stay symbols: what a derivation reads.

A parameter whose number decides the structure of the program (the length of a loop, a constant subscript) cannot stay a symbol.
It is found by trying: where the elaboration asks for a number, the parameter takes its value and the program is read again.
"""

from __future__ import annotations

from typing import Any

from netsor.ir.program import Program
from netsor.language import syntax
from netsor.language.constants import NeedsNumber
from netsor.language.diagnostics import NetsorError
from netsor.language.elaborate import elaborate


def elaborate_free(tree: syntax.Program, **options: Any) -> Program:
    """As :func:`netsor.language.elaborate.elaborate`, with every parameter a symbol that is not set and whose number is not needed.

    :raises NetsorError: with what is wrong with the program when its parameters have their values."""
    pinned: frozenset[str] = frozenset()
    everything = frozenset(
        setting.name.name for each in tree.statements if isinstance(each, syntax.Param) for setting in each.settings)
    while True:
        try:
            return elaborate(tree, **options, pinned=pinned)
        except NeedsNumber as need:
            more = need.names - pinned
        except NetsorError:
            more = everything - pinned  # whatever it is, it is to be said about the numbers in force
        if not more:
            return elaborate(tree, **options)
        pinned |= more
