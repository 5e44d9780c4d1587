"""How much of each vector a sampler at width n must know: a static fact of the program.

A vector that a coordinatewise function touches is held in full.  One that is only combined linearly and asked for inner products is held
by its coordinates in an orthonormal frame that grows with the directions met.  One of which nothing but recorded coordinates is wanted
has those coordinates only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum

from netsor.finite.failures import require_finite
from netsor.finite.interactions import Groups, Interaction, Node, Side, interactions, is_bilinear, is_linear
from netsor.finite.partition import Partition
from netsor.finite.products import ProductPlan, product_plans
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import ZERO
from netsor.ir.facts import uses
from netsor.ir.program import Custom, Definition, Family, Given, Iid, MatMul, Moment, Nonlin, Program
from netsor.limit.functions import function


class Held(IntEnum):
    """What is held of a vector (of scalars: whether they are needed)."""

    NOTHING = 0
    ROWS = 1
    FRAME = 2
    ALL = 3


@dataclass(eq=False)
class Space:
    """Vectors that meet each other, none touched by a coordinatewise function.  ``batch[node]`` are the positions of the axes along which
    vectors never meet (heads, say): one frame for each of their values.  ``recorded``: whether coordinates are wanted too."""

    nodes: list[Node]
    batch: dict[Node, tuple[int, ...]]
    recorded: bool = False

    @property
    def width(self) -> str:
        """The width of its vectors."""
        return self._family.width

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many frames: the sizes of the axes along which vectors never meet."""
        return tuple(self._family.axes[position].range.size for position in self.batch[self._family])

    @property
    def directions(self) -> int:
        """How many Gaussian vectors are drawn in each frame at most."""
        drawn = [node for node in self.nodes if isinstance(node, Family) and isinstance(node.definition, (Given, MatMul))]
        return sum(math.prod(axis.range.size for axis in family.axes) for family in drawn) // math.prod(self.sizes)

    @property
    def _family(self) -> Family:
        return next(node for node in self.nodes if isinstance(node, Family))


@dataclass(eq=False)
class Plan:
    """What is computed, in order (``families``), what is held of it, and after which step it is dropped (``last_use``)."""

    program: Program
    families: list[Family]
    held: dict[Family, Held]
    spaces: list[Space]
    space_of: dict[Family, Space]
    products: dict[Family, ProductPlan]
    dropped: dict[Family, list[Family]] = field(default_factory=dict)

    def text(self) -> str:
        """One line for each family that is computed: what is held of it and how its products are drawn."""
        width = max((len(family.label) for family in self.families), default=0)
        return "\n".join(f"{family.label:<{width}}  {self._line(family)}" for family in self.families)

    def _line(self, family: Family) -> str:
        if not family.is_vector:
            return "scalar"
        line = {Held.ALL: f"{family.width} coordinates", Held.ROWS: "recorded coordinates"}.get(self.held[family])
        if line is None:
            space = self.space_of[family]
            axes = [family.axes[position].name for position in space.batch[family]]
            line = f"frame {self.spaces.index(space) + 1}" + (f", one for each {', '.join(axes)}" if axes else "")
            line += ", and recorded coordinates" if space.recorded else ""
        if family in self.products:
            product = self.products[family]
            line += "; drawn given earlier products" if product.memory else "; drawn from the Gram matrix"
            line += "" if product.plain else ", element by element"
        return line


def make_plan(program: Program) -> Plan:
    """The plan of a program; NoReading if a parameter is infinite."""
    require_finite(program)
    multiplied = [family for family in program.families if isinstance(family.definition, MatMul)]
    groups = Groups(multiplied)
    meetings = {family: interactions(family, groups) for family in program.families}
    held, recorded = _held(program, meetings)
    families = [family for family in program.families if held[family]]
    products = product_plans([family for family in multiplied if held[family]], Evaluator(function))
    met = [meeting for family in families for meeting in meetings[family]]
    spaces = _spaces(met, held, recorded, products)
    space_of = {node: space for space in spaces for node in space.nodes if isinstance(node, Family)}
    return Plan(program, families, {f: held[f] for f in families}, spaces, space_of, products, _dropped(program, families))


# --- what is held ----------------------------------------------------------------------------------------------------


def _held(program: Program, meetings: dict[Family, list[Interaction]]) -> tuple[dict[Node, Held], set[Family]]:
    """The least that suffices, found by going backwards until nothing changes; and the families whose coordinates are wanted."""
    held: dict[Node, Held] = dict.fromkeys(program.families, Held.NOTHING)
    recorded: set[Family] = set()
    for output in program.outputs:
        for part in output.parts:
            held[part.reference.family] = Held.ROWS
            recorded.add(part.reference.family)
    before = None
    while before != held:
        before = dict(held)
        for family in reversed(program.families):
            if held[family]:
                _ask(family, held, recorded)
                if held[family] == Held.ROWS and isinstance(family.definition, Nonlin):
                    continue  # it takes the wanted coordinates of its parts, however these are held
                for meeting in meetings[family]:
                    _agree(meeting, held)
    return held, recorded


def _ask(family: Family, held: dict[Node, Held], recorded: set[Family]) -> None:
    """Raise what the definition of ``family`` needs of the families it mentions."""
    definition, own = family.definition, held[family]
    if isinstance(definition, Nonlin) and own > Held.ROWS and not is_linear(family):
        own = Held.ALL
    elif isinstance(definition, Custom) or (own > Held.ROWS and _has_a_direction(definition)):
        own = Held.ALL
    held[family] = own
    if isinstance(definition, MatMul) or is_bilinear(family):
        wanted = Held.FRAME
    elif isinstance(definition, (Moment, Custom)):
        wanted = Held.ALL
    else:
        wanted = own  # coordinatewise: as much of every argument as of the result
    for used in uses(family):
        held[used] = max(held[used], wanted if used.is_vector else Held.ROWS)
        if used.is_vector and own == Held.ROWS and isinstance(definition, Nonlin):
            recorded.add(used)


def _has_a_direction(definition: Definition) -> bool:
    """Whether the law of an input is not the same in every orthonormal frame."""
    return isinstance(definition, Iid) or (isinstance(definition, Given) and definition.mean != ZERO)


def _agree(meeting: Interaction, held: dict[Node, Held]) -> None:
    """What meets a vector that is held in full is held in full; results of one matrix are all held alike, and where its transpose is
    used too, so are results of the one and arguments of the other."""
    nodes = [participant.node for participant in meeting]
    most = max(held.get(node, Held.NOTHING) for node in nodes)
    output = any(isinstance(node, Side) and node.results for node in nodes)
    for node in nodes:
        if output or most == Held.ALL or isinstance(node, Side):
            held[node] = most


# --- spaces ----------------------------------------------------------------------------------------------------------


def _spaces(met: list[Interaction], held, recorded: set[Family], products: dict[Family, ProductPlan]) -> list[Space]:
    framed = [meeting for meeting in met if all(held[participant.node] == Held.FRAME for participant in meeting)]
    partition = Partition()
    for meeting in framed:
        partition.join(participant.node for participant in meeting)
    members: dict = {}
    for node in dict.fromkeys(participant.node for meeting in framed for participant in meeting):
        members.setdefault(partition.find(node), []).append(node)
    batches = _batches(framed, products)
    spaces = []
    for nodes in members.values():
        classes = [c for c in batches if all(node in c for node in nodes)]
        batch = {node: tuple(c[node] for c in classes) for node in nodes}
        if any(isinstance(node, Family) for node in nodes):
            spaces.append(Space(nodes, batch, any(node in recorded for node in nodes)))
    return spaces


def _batches(framed: list[Interaction], products: dict[Family, ProductPlan]) -> list[dict[Node, int]]:
    """Axes along which no two vectors meet: for each such class the position of the axis in every node."""
    partition = Partition()
    for meeting in framed:
        for index in {i for participant in meeting for i in participant.indices if i is not None}:
            partition.join(
                (p.node, position) for p in meeting for position, own in enumerate(p.indices) if own is index)
    classes: dict = {}
    for node, count in {p.node: len(p.indices) for meeting in framed for p in meeting}.items():
        for position in range(count):
            classes.setdefault(partition.find((node, position)), {}).setdefault(node, []).append(position)
    return [
        {node: positions[0] for node, positions in found.items()}
        for found in classes.values() if _apart(found, framed, products)
    ]


def _apart(found: dict[Node, list[int]], framed: list[Interaction], products: dict[Family, ProductPlan]) -> bool:
    """Whether vectors with different values of the axes of one class never meet and are drawn independently."""
    if any(len(positions) != 1 for positions in found.values()):
        return False
    for node, (position,) in found.items():
        if isinstance(node, Family) and isinstance(node.definition, Given) and node.definition.second[position] is not None:
            return False
        if isinstance(node, Family) and node in products and not products[node].plain:
            return False
    for meeting in framed:
        if any(p.node in found for p in meeting):
            indices = {p.indices[found[p.node][0]] if p.node in found else None for p in meeting}
            if len(indices) != 1 or None in indices:
                return False
    return True


def _dropped(program: Program, families: list[Family]) -> dict[Family, list[Family]]:
    """The vectors that are not needed any more after each step."""
    last: dict[Family, Family] = {}
    for family in families:
        last |= {used: family for used in uses(family)}
    kept = {part.reference.family for output in program.outputs for part in output.parts}
    dropped: dict[Family, list[Family]] = {}
    for family, step in last.items():
        if family not in kept:
            dropped.setdefault(step, []).append(family)
    return dropped
