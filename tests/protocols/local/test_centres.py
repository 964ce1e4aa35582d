"""Centres: amid the people, however wide the range is."""

import numpy as np
import pytest

from modicum import local
from modicum.exact.entropy import SeededEntropy
from modicum.protocols.local.mean_vector import centres
from modicum.protocols.local.protocol import Answers
from modicum.protocols.local.tree import Tree, heaviest_path

KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)) - np.log(2),
    "one point": lambda rng, n, d: np.zeros((n, d)),
    "a tenth far away": lambda rng, n, d: rng.normal(size=(n, d)) + 40 * (rng.random((n, 1)) < 0.1),
}


def offset(kind: str, radius: float, seed: int) -> float:
    """Distance of the centre from that of most people, by the answers of the first round."""
    n, d = 12_000, 2
    rng = np.random.default_rng(seed)
    place = np.array([3.0, -8.0])
    data = KINDS[kind](rng, n, d) + place
    protocol = local.mean_vector(dimension=d, radius=radius, rho=2, session=f"{seed:032x}")
    batch = local.Batch(protocol, n, entropy=SeededEntropy(f"{kind} {seed}"))
    mine, said = batch.rounds == 1, protocol.first()
    found, asked = batch._words[mine], protocol.asked(said)
    answers = asked.draw(protocol.rows(data[mine], said), found, SeededEntropy(seed))
    vectors = protocol.vectors
    centre = np.array(centres(asked, Answers(answers, found), vectors.places))
    return float(np.linalg.norm(vectors.restored(centre) - place))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_radius_leads_to_the_same_place(kind) -> None:
    """Cells are some millionths of the radius; with a thousand cells 1e6 would be off by 1,000."""
    found = [[offset(kind, radius, seed) for seed in range(4)] for radius in (30.0, 1e3, 1e6)]
    assert np.median(found, axis=1).max() < (15 if kind == "one point" else 2)
    assert np.max(found) < 15


@pytest.mark.parametrize("radius", [100.0, 1e6])
def test_a_mean_vector_does_not_need_a_tight_radius(radius) -> None:
    data = np.random.default_rng(1).normal((3, -8), 1, (20_000, 2))
    protocol = local.mean_vector(dimension=2, radius=radius, rho=2, session=f"{3:032x}")
    batch, server = (
        local.Batch(protocol, len(data), entropy=SeededEntropy(1)),
        local.Server(protocol),
    )
    while server.estimate is None:
        server.aggregate([batch.respond(data, server.announcement)])
        server.close()
    assert server.estimate.radius < 6
    assert np.linalg.norm(server.estimate.values - data.mean(axis=0)) < 0.2


def test_the_heaviest_path_is_found_without_noise_and_leaves_it_for_nothing() -> None:
    tree = Tree(4, 9)
    cell = 123_456

    def shares(level: int, nodes: np.ndarray) -> np.ndarray:
        held = np.where(nodes == cell // 4 ** (9 - level), 1.0, 0.0)
        # At one level another node looks heavier; its children do not.
        return held + np.where((nodes == 0) & (level == 3), 1.5, 0.0)

    found, held = heaviest_path(tree, shares)
    assert found == cell
    assert held == pytest.approx(np.ones(9))
