"""Union-find: things in classes that grow together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Partition:
    """A partition of hashable items; every item starts in a class of its own."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        root = item
        while self._parent.setdefault(root, root) != root:
            root = self._parent[root]
        while self._parent[item] != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def join(self, items: Iterable[Hashable]) -> None:
        roots = [self.find(item) for item in items]
        for other in roots[1:]:
            self._parent[self.find(other)] = self.find(roots[0])
