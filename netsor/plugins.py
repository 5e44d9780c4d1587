"""Rules and nonlinearities from files of the user's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from netsor.nonlinearities.plugin_error import PluginError

_rules: dict[str, Any] = {}
_loaded: set[Path] = set()


def register_rule(rule: Any) -> Any:
    """Add a :class:`netsor.rules.VectorRule` to the functions that programs may call; ValueError if the name is taken."""
    from netsor import nonlinearities

    present = _rules.get(rule.name)
    if (present is not None and type(present).__qualname__ != type(rule).__qualname__) or rule.name in nonlinearities.names():
        raise ValueError(f"there is already a function called {rule.name!r}")
    _rules[rule.name] = rule
    return rule


def rules() -> dict[str, Any]:
    """The registered rules by name."""
    return dict(_rules)


def load_plugins(paths: list[str | Path]) -> None:
    """Run plug-in files, once each; they call ``register_rule`` and ``nonlinearities.register``.

    :raises PluginError: if a file cannot be read, fails, or declares something incomplete."""
    for path in paths:
        place = Path(path).resolve()
        if place in _loaded:
            continue
        try:
            spec = importlib.util.spec_from_file_location(f"netsor_plugin_{place.stem}", place)
            if spec is None or not place.exists():
                raise FileNotFoundError(f"there is no Python file {path}")
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        except (Exception, SystemExit) as error:  # whatever a user's file raises is shown as one sentence
            raise PluginError(f"the plug-in {path} could not be loaded: {type(error).__name__}: {error}") from error
        _loaded.add(place)


def loaded_plugins() -> list[Path]:
    """The plug-in files loaded so far: other processes need them too."""
    return sorted(_loaded)


__all__ = ["PluginError", "load_plugins", "loaded_plugins", "register_rule", "rules"]
