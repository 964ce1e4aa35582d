"""Single messages through a shuffler: what they cost, and that they arrive."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum import local, shuffle
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.budget import Budget

SESSION = "00112233445566778899aabbccddeeff"
COMMON = {"within": (0, 64), "step": 1, "epsilon": 1, "delta": "1e-8", "session": SESSION}
BUILDS = {"histogram": shuffle.histogram, "mean": shuffle.mean}
every_build = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)


def played(protocol: shuffle.Single, data: np.ndarray, seed: int = 1):
    batch = local.Batch(protocol.protocol, len(data), entropy=SeededEntropy(seed))
    server = local.Server(protocol.protocol)
    while server.estimate is None:
        shuffler = protocol.shuffler(server.round, entropy=SeededEntropy(f"{seed} order"))
        assert shuffler.add(batch.respond(data, server.announcement))
        assert server.aggregate([shuffler.release()]).refused == {}
        server.close()
    return server.estimate


@every_build
@pytest.mark.parametrize("clients", [2000, 100_000])
def test_the_shuffled_messages_keep_the_budget(build, clients) -> None:
    """[shuffle.9], with every figure computed anew: the crowd by its exact binomial law."""
    made = build(**COMMON, clients=clients)
    delta = made.budget.delta
    assert made.budget == Budget("approx", Fraction(1), Fraction("1e-8"))
    shares = made.protocol.shares
    missing = [
        stats.binom.cdf(crowd - 1, made.honest, share / sum(shares))
        for crowd, share in zip(made.crowds, shares, strict=True)
    ]
    assert sum(missing) <= float(delta) / 10
    for crowd in made.crowds:
        found = shuffle.amplified(
            made.protocol.budget.amount, clients=crowd, delta=delta * Fraction(9, 10)
        )
        assert found.amount <= 1
    # Not much is left over.
    more = made.protocol.budget.amount + Fraction(1, 50)
    lost = shuffle.amplified(more, clients=min(made.crowds), delta=delta * Fraction(9, 10))
    assert lost.amount > 1


def test_ranges_and_means_are_found() -> None:
    rng = np.random.default_rng(1)
    data = rng.integers(10, 30, 20_000).astype(float)
    shape = played(shuffle.histogram(**COMMON, clients=20_000), data)
    for low, high in ((0, 10), (10, 20), (15, 64)):
        truth = ((data >= low) & (data < high)).mean()
        assert abs(shape.share(low, high) - truth) < 6 * shape.deviation
    assert shape.deviation < 0.02
    assert abs(shape.quantile(0.5) - 20) < 2
    found = played(shuffle.mean(**COMMON, clients=20_000), data)
    assert abs(found.value - data.mean()) < 6 * found.standard_error
    assert found.standard_error < 0.5


@every_build
def test_shuffling_is_worth_more_people(build) -> None:
    few, many = (build(**COMMON, clients=n).protocol.budget.amount for n in (3000, 300_000))
    assert 1 < few < many


@every_build
def test_too_few_are_not_released(build) -> None:
    made = build(**COMMON, clients=2000)
    batch, server = local.Batch(made.protocol, 400), local.Server(made.protocol)
    shuffler = made.shuffler(1)
    assert shuffler.add(batch.respond(np.zeros(400), server.announcement)[: 22 * 90])
    with pytest.raises(InvalidArgument, match="people were heard"):
        shuffler.release()
    with pytest.raises(InvalidArgument, match="rounds"):
        made.shuffler(made.protocol.rounds + 1)
    with pytest.raises(InvalidArgument, match="rounds"):
        made.shuffler(0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 11},
        {"delta": 0},
        {"delta": math.nan},
        {"clients": 99},
        {"clients": 2000.0},
        {"honest": 2001},
        {"step": 3},
        {"session": "x"},
        {"within": (1, 0)},
    ],
)
@every_build
def test_arguments_that_cannot_be_used(build, wrong) -> None:
    with pytest.raises(InvalidArgument):
        build(**(COMMON | {"clients": 2000} | wrong))


def test_a_round_that_would_have_nobody_for_sure() -> None:
    with pytest.raises(InvalidArgument, match="too few for 2 rounds"):
        shuffle.mean(**COMMON, clients=100)
    assert shuffle.histogram(**COMMON, clients=100).crowds == (90,)
