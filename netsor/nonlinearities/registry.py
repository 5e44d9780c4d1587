"""The catalogue of nonlinearities by name.  It is filled on first use from the files of this folder."""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from netsor.nonlinearities.base import Nonlinearity

_catalogue: dict[str, Nonlinearity] = {}
_machinery = {"base", "registry", "check", "derived", "forms", "plugin_error"}
_filled = False


def _fill() -> None:
    """Import every file of the drawer; each registers what it declares."""
    global _filled
    if _filled:
        return
    _filled = True
    import netsor.nonlinearities as drawer

    for module in sorted(info.name for info in pkgutil.iter_modules(drawer.__path__)):
        if module not in _machinery:
            importlib.import_module(f"{drawer.__name__}.{module}")


def register(nonlinearity: Nonlinearity) -> Nonlinearity:
    """Add a declaration to the catalogue; ValueError if another one has its name.

    A class that is defined again (a cell run twice, a plug-in loaded twice) replaces its earlier self."""
    if not isinstance(nonlinearity, Nonlinearity):
        raise TypeError(f"register takes an instance of Nonlinearity, not {nonlinearity!r}")
    present = _catalogue.get(nonlinearity.name)
    if present is not None and type(present) is not type(nonlinearity) and not _again(type(present), type(nonlinearity)):
        raise ValueError(f"there is already a nonlinearity called {nonlinearity.name!r}")
    _catalogue[nonlinearity.name] = nonlinearity
    return nonlinearity


def _again(present: type, new: type) -> bool:
    """Whether ``new`` is a user's class ``present`` defined once more."""
    return present.__qualname__ == new.__qualname__ and not present.__module__.startswith("netsor.")


def get(name: str) -> Nonlinearity:
    """The nonlinearity of that name, or the derivative of one: ``softsign'``; KeyError if there is none (see ``suggest``)."""
    _fill()
    if name.endswith("'") and name[:-1] in _catalogue:
        from netsor.nonlinearities.derived import DerivativeOf

        return DerivativeOf(_catalogue[name[:-1]])
    if name not in _catalogue:
        near = suggest(name)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise KeyError(f"there is no nonlinearity {name!r}{hint}")
    return _catalogue[name]


def known(name: str) -> bool:
    """Whether there is a nonlinearity of that name."""
    _fill()
    return name in _catalogue


def names() -> tuple[str, ...]:
    """All names, sorted."""
    _fill()
    return tuple(sorted(_catalogue))


def suggest(name: str) -> tuple[str, ...]:
    """Up to three catalogue names close to ``name``, best first."""
    squeezed = name.lower().replace("-", "_")
    return tuple(difflib.get_close_matches(squeezed, names(), n=3, cutoff=0.6))
