"""The picture's geometry: nothing stands on anything else, edges lead downwards and around nodes."""

import re
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import netsor
from netsor.graph import Edge, Graph, Node, graph_of
from netsor.graph.coordinates import pooled
from netsor.graph.layers import _crossings, layers
from netsor.graph.placing import placed
from netsor.language.diagnostics import NetsorError


def random_graph(seed: int) -> Graph:
    """A directed graph without circles, with labels at products, as programs have them."""
    random = Random(seed)
    size = random.randint(1, 60)
    nodes, edges = [], []
    for target in range(size):
        sources = random.sample(range(target), min(target, random.choice([0, 1, 1, 2, 2, 3, 5])))
        product = len(sources) == 1 and random.random() < 0.6
        matrix = "W" * random.randint(1, 20) if product else ""
        edges += [Edge(source, target, matrix) for source in sources]
        nodes.append(Node("x" * random.randint(1, 32), random.choice("GHCS"), "y" * random.randint(1, 30),
                          random.choice(["", "i = 1..2"]), given=not sources, output=random.random() < 0.2))
    return Graph("random", nodes=nodes, edges=edges)


def points(way: str):
    """Points along a path of M, V and C commands."""
    (_, (x, y)), *rest = [(kind, [float(each) for each in numbers.split()])
                          for kind, numbers in re.findall(r"([MVC])([-\d. ]+)", way)]
    for kind, numbers in rest:
        if kind == "V":
            yield from ((x, each) for each in np.linspace(y, numbers[0], 8))
            y = numbers[0]
        else:
            x1, y1, x2, y2, x3, y3 = numbers
            for t in np.linspace(0, 1, 12):
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                yield a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3
            x, y = x3, y3


@pytest.mark.parametrize("seed", range(25))
def test_nothing_overlaps_and_no_edge_runs_through_a_node(seed):
    graph = random_graph(seed)
    drawn = placed(graph)
    everything = [*drawn.boxes, *drawn.labels.values()]
    assert all(one.apart(other) for one, other in combinations(everything, 2))
    assert all(box.x >= -0.01 and box.x + box.width <= drawn.width + 0.01 for box in drawn.boxes)
    assert all(box.y + box.height <= drawn.height + 0.01 for box in drawn.boxes)
    for edge, way in zip(graph.edges, drawn.ways):
        passed = list(points(way))
        assert all(b[1] >= a[1] - 0.11 for a, b in pairwise(passed))
        source, target = drawn.boxes[edge.source], drawn.boxes[edge.target]
        assert passed[0][1] >= source.y + source.height - 0.1 and passed[-1][1] <= target.y + 0.1
        assert source.x <= passed[0][0] <= source.x + source.width and target.x <= passed[-1][0] <= target.x + target.width
        for k, box in enumerate(drawn.boxes):
            inside = [(x, y) for x, y in passed if box.x < x < box.x + box.width and box.y + 0.1 < y < box.y + box.height - 0.1]
            assert not inside, (edge, k)


def test_rows_are_by_the_longest_path_and_inputs_stand_above_their_first_use():
    nodes = [Node(name, "G") for name in "abcde"]
    graph = Graph("t", nodes=nodes, edges=[Edge(0, 2), Edge(2, 3), Edge(0, 3), Edge(1, 4), Edge(3, 4)])
    found = layers(graph)
    assert found.row_of[:5] == [0, 2, 1, 2, 3] and found.paths[2][0] == 0 and len(found.paths[2]) == 3


def test_crossings_are_counted():
    random = Random(3)
    for _ in range(20):
        upper, lower = list(range(5)), list(range(5, 11))
        random.shuffle(upper), random.shuffle(lower)
        links = [(u, v) for u in upper for v in lower if random.random() < 0.4]
        below = {u: [v for a, v in links if a == u] for u in upper}
        crossing = sum((upper.index(a) - upper.index(c)) * (lower.index(b) - lower.index(d)) < 0
                       for (a, b), (c, d) in combinations(links, 2))
        assert _crossings([upper, lower], below) == crossing


def test_order_removes_crossings_that_can_be_avoided():
    nodes = [Node(str(k), "G") for k in range(8)]
    graph = Graph("t", nodes=nodes, edges=[Edge(0, 7), Edge(1, 6), Edge(2, 5), Edge(3, 4)])
    found = layers(graph)
    below = {k: [t for s, t in found.links() if s == k] for k in range(8)}
    assert _crossings(found.rows, below) == 0


def test_pooling_is_isotonic_regression():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 40):
        wanted, weights = rng.normal(size=size), rng.uniform(0.1, 9, size=size)
        assert np.allclose(pooled(list(wanted), list(weights)), isotonic_regression(wanted, weights=weights).x)


def test_a_long_edge_beside_a_chain_is_straight_between_its_ends():
    size = 9
    nodes = [Node("x" * 12, "G") for _ in range(size)]
    graph = Graph("t", nodes=nodes, edges=[*(Edge(k, k + 1) for k in range(size - 1)), Edge(0, size - 1)])
    way = placed(graph).ways[-1]
    across = [float(x) for x in re.findall(r"C[-\d.]+ [-\d.]+ ([-\d.]+)", way)]
    assert max(across[:-1]) - min(across[:-1]) < 4


def test_skip_connections_of_a_decoder_are_straight():
    """Each layer's runs beside four rows of nodes that are not under each other."""
    program = netsor.load(Path(__file__).parents[2] / "programs" / "decoder.netsor", L=3).ir
    graph = graph_of(program)
    drawn = placed(graph)
    number = {node.name: k for k, node in enumerate(graph.nodes)}
    for layer in (1, 2, 3):
        skip = graph.edges.index(Edge(number[f"x[{layer - 1},i]"], number[f"x[{layer},i]"]))
        across = [float(x) for x in re.findall(r"C[-\d.]+ [-\d.]+ ([-\d.]+)", drawn.ways[skip])][:-1]
        assert len(across) == 3 and max(across) - min(across) < 6


def test_a_picture_that_is_too_large_is_refused():
    nodes = [Node("x", "G") for _ in range(300)]
    edges = [Edge(k, k + 1) for k in range(299)] + [Edge(0, k) for k in range(2, 300)]
    with pytest.raises(NetsorError, match="too large to be drawn"):
        placed(Graph("t", nodes=nodes, edges=edges))


def test_a_graph_without_edges_or_nodes_can_be_placed():
    assert placed(Graph("t")).boxes == [] and len(placed(Graph("t", nodes=[Node("x", "G")])).boxes) == 1
