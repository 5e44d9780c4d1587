"""Long loops: the middle passes, which are alike, become one node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from netsor.ir.facts import uses
from netsor.ir.program import Family

SHOWN_FIRST, SHOWN_LAST = 3, 1  # passes that are drawn at both ends of a loop
SHORTEST = 3  # passes that are worth folding


class Group(NamedTuple):
    """The families of the passes ``low`` to ``high``, by their numbers."""

    low: int
    high: int
    members: tuple[int, ...]


def folded(families: list[Family], edges: set[tuple[int, int]]) -> Group | None:
    """What to fold, if anything: at most one group, because loops folded apart could use each other in a circle."""
    passes = _passes(families)
    values = sorted(set(passes.values()))
    low, high = (values[SHOWN_FIRST], values[-1 - SHOWN_LAST]) if len(values) > SHOWN_FIRST + SHOWN_LAST else (0, -1)
    if high - low + 1 < SHORTEST:
        return None
    members = tuple(k for k, family in enumerate(families) if low <= passes.get(family, low - 1) <= high)
    return None if _circular(members, edges) else Group(low, high, members)


def _passes(families: list[Family]) -> dict[Family, int]:
    """The pass of a loop to which each family belongs: the number that its name begins with; what has no such number
    belongs where all that use it belong."""
    users: dict[Family, list[Family]] = defaultdict(list)
    for family in families:
        for used in uses(family):
            users[used].append(family)
    found: dict[Family, int] = {}
    for family in reversed(families):  # users come later
        number = next((part for part in family.pattern if isinstance(part, int)), None)
        belongs = {found.get(user) for user in users[family]}
        if number is not None:
            found[family] = number
        elif family.hidden and len(belongs) == 1 and None not in belongs and uses(family):
            found[family] = belongs.pop()
    return found


def _circular(members: tuple[int, ...], edges: set[tuple[int, int]]) -> bool:
    """Whether a way leads out of the members and back into them."""
    inside = set(members)
    reached = {target for source, target in edges if source in inside and target not in inside}
    for source, target in sorted(edges):
        if source in reached:
            if target in inside:
                return True
            reached.add(target)
    return False


def in_order(nodes: Iterable[int], edges) -> list[int]:
    """The nodes, sources before targets, and otherwise as they are numbered (Kahn 1962)."""
    waiting = dict.fromkeys(nodes, 0)
    targets: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        targets[edge.source].append(edge.target)
        waiting[edge.target] += 1
    ready = [node for node, count in waiting.items() if not count]
    heapify(ready)
    order = []
    while ready:
        node = heappop(ready)
        order.append(node)
        for target in targets[node]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, target)
    return order
