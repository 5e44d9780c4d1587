"""Nodes of which there is one object for each value."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from weakref import WeakValueDictionary


class Interned(type):
    """Metaclass of nodes: equal nodes are the same object, so that comparing and hashing them costs nothing."""

    def __call__(cls, *arguments, **named):
        names, defaults = cls.field_names, cls.field_defaults
        if named or len(arguments) != len(names):
            values = dict(zip(names, arguments)) | named
            arguments = tuple(values[name] if name in values else defaults[name] for name in names)
        key = (cls, *map(type, arguments), *arguments) if cls.field_names == ("value",) else (cls, *arguments)
        known = _nodes.get(key)
        if known is None:
            with _nodes_lock:
                known = _nodes.get(key)
                if known is None:
                    known = super().__call__(*arguments)
                    _nodes[key] = known
        return known


_nodes: WeakValueDictionary = WeakValueDictionary()
_nodes_lock = threading.RLock()


def node(cls):
    """Make ``cls`` an immutable expression node."""
    cls = dataclass(frozen=True, eq=False, repr=False)(cls)
    cls.field_names = tuple(f.name for f in fields(cls))
    cls.field_defaults = {f.name: f.default for f in fields(cls)}
    return cls
