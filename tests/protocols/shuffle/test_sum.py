"""Sums through a shuffler: they come out, cost what they should, and what is wrong is refused."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from modicum import shuffle
from modicum.errors import BudgetExceeded, CopyRefused, InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.protocols.shuffle.noise import Polya

SESSION = "00112233445566778899aabbccddeeff"


def small(**changes):
    arguments = {"within": (-2, 6), "epsilon": 1, "clients": 400, "session": SESSION} | changes
    return shuffle.split_sum(**arguments)


def released(protocol, data, seed=1) -> bytes:
    shuffler = protocol.shuffler(entropy=SeededEntropy(f"{seed} order"))
    batch = shuffle.SumBatch(protocol, len(data), entropy=SeededEntropy(f"{seed} noise"))
    assert shuffler.add(batch.respond(data))
    return shuffler.release()


def test_the_sum_has_the_error_of_a_curator() -> None:
    """All honest: the noise is one discrete Laplace draw, and the rounding of the values."""
    protocol = small(honest=400)
    data = np.linspace(-2, 6, 400)
    errors = [
        shuffle.analysed(protocol, released(protocol, data, seed)).value - data.sum()
        for seed in range(150)
    ]
    central = 8 * math.sqrt(2)  # the Laplace mechanism's, with a known number of clients
    assert protocol.error < 1.2 * central
    assert 0.75 * protocol.error < np.std(errors) < 1.3 * protocol.error
    assert abs(np.mean(errors)) < 5 * protocol.error / math.sqrt(150)


def test_all_values_at_an_end_do_not_wrap() -> None:
    for end in (-2.0, 6.0):
        protocol = small(epsilon="0.01")
        found = shuffle.analysed(protocol, released(protocol, np.full(400, end)))
        assert abs(found.value - 400 * end) < 20 * protocol.error


def test_the_noise_of_the_honest_alone_is_the_discrete_laplace_of_the_cost() -> None:
    """Two neighbouring sums, the noise of exactly `honest` clients: worst ratio, enumerated."""
    protocol = small(honest=100)
    mechanism = protocol.noise
    assert mechanism.size * protocol.honest == 1
    noise = LaplaceNoise(1 / mechanism.rate)
    p = protocol.precision
    ratios = [abs(noise.log_pmf(k) - noise.log_pmf(k - p)) for k in range(-2 * p, 3 * p)]
    assert max(ratios) == pytest.approx(float(protocol.epsilon))


def test_a_message_that_is_heard_twice_costs_more() -> None:
    """What a shuffler is trusted not to do: all outcomes of the sum of 3 honest clients."""
    p, mechanism = 4, Polya(Fraction(1, 3), Fraction(1, 4))  # epsilon = 1
    one = np.exp([mechanism.log_pmf(k) for k in range(600)])
    noise = np.convolve(one, one[::-1])
    doubled = np.zeros(2 * len(noise) - 1)
    doubled[::2] = noise
    others = np.convolve(noise, noise)

    def loss(own: np.ndarray, moved: int) -> float:
        whole = np.convolve(others, own)
        middle = len(whole) // 2 + np.arange(-80, 81)
        return float(np.abs(np.log(whole[middle] / whole[middle - moved])).max())

    assert loss(noise, p) == pytest.approx(1)
    assert 1.5 < loss(doubled, 2 * p) < 2


@pytest.mark.parametrize(
    ("part", "grown"), [("1", 1.0), ("9/10", 1.19), ("3/4", 1.6), ("1/2", 3.0)]
)
def test_fewer_honest_clients_than_agreed_cost_more(part, grown) -> None:
    """What the limits page says: the exact loss of the noise of a part of the honest, ε = 1."""
    p = 512
    mechanism = Polya(Fraction(part), Fraction(1, p))
    one = np.exp([mechanism.log_pmf(k) for k in range(30 * p)])

    def mass(k: int) -> float:
        return float(one[abs(k) :] @ one[: len(one) - abs(k)])

    losses = [math.log(mass(k) / mass(k - p)) for k in range(-p, p + 1, p // 8)]
    assert max(losses) == pytest.approx(grown, rel=0.01)


@pytest.mark.parametrize("n", [1000, 10_000, 100_000, 1_000_000])
def test_the_number_of_shares_is_that_of_the_page(n) -> None:
    protocol = small(clients=n, honest=n)
    most = (2 * 40 + protocol.bits) / (math.log2(n) - math.log2(math.e))
    assert most + 2 <= protocol.shares < most + 3


def test_what_is_wrong_is_refused() -> None:
    protocol = small()
    good = released(protocol, np.zeros(400))
    size = protocol.frame_size
    assert size == 35
    few = good[: -41 * protocol.shares * size]  # 359 clients, and 360 were agreed
    for wrong in (good[:-1], good[:-size], b"", few, good + good):
        with pytest.raises(InvalidArgument):
            shuffle.analysed(protocol, wrong)
    other = released(small(session=SESSION[::-1]), np.zeros(400))
    found = shuffle.analysed(protocol, good + other)
    assert found.clients == 400
    assert found.refused == 400 * protocol.shares
    # A share means what its lowest bits mean: others in it do not end the session.
    large = np.frombuffer(good, protocol.mix.layout).copy()
    large["share"][0] += 1 << protocol.bits
    assert shuffle.analysed(protocol, large.tobytes()) == shuffle.analysed(protocol, good)


def test_clients_answer_once_and_are_not_copied() -> None:
    batch = shuffle.SumBatch(small(), 2)
    with pytest.raises(InvalidArgument):
        batch.respond([1.0])
    batch.respond([1.0, 2.0])
    with pytest.raises(BudgetExceeded):
        batch.respond([1.0, 2.0])
    with pytest.raises(CopyRefused):
        copy.copy(batch)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 11},
        {"clients": 99},
        {"honest": 401},
        {"security": 10},
        {"clients": 400.5},
        {"clients": "400"},
        {"clients": True},
        {"security": 40.5},
        {"honest": 300.0},
        {"session": 5},
        {"session": "x"},
    ],
)
def test_arguments_that_cannot_be_used(wrong) -> None:
    with pytest.raises(InvalidArgument):
        small(**wrong)


def test_numpy_integers_are_integers() -> None:
    protocol = small(clients=np.int64(400), honest=np.int32(300), security=np.uint8(30))
    assert protocol == small(clients=400, honest=300, security=30)
    assert protocol.tag == small(clients=400, honest=300, security=30).tag
