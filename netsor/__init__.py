"""netsor: a language and interpreter for Tensor Programs.

``load`` and ``parse`` give a :class:`Program`; ``program.limit()`` is its infinite-width limit, every number an :class:`Estimate` with
value, error and method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from netsor.api import Program, load, parse
    from netsor.expectation.estimate import Estimate
    from netsor.language.diagnostics import Diagnostic, NetsorError
    from netsor.plugins import PluginError, register_rule

_PUBLIC = {
    "load": "netsor.api", "parse": "netsor.api", "Program": "netsor.api",
    "Estimate": "netsor.expectation.estimate",
    "Diagnostic": "netsor.language.diagnostics", "NetsorError": "netsor.language.diagnostics",
    "PluginError": "netsor.plugins", "register_rule": "netsor.plugins",
}

__all__ = ["Diagnostic", "Estimate", "NetsorError", "PluginError", "Program", "__version__", "load", "parse", "register_rule"]


def __getattr__(name: str):
    """Public names are imported when they are first used: ``import netsor`` is cheap."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'netsor' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
