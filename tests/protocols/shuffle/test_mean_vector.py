"""A mean vector through a shuffler: its cost, its messages, and its error."""

import copy
import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from modicum import shuffle
from modicum.errors import BudgetExceeded, CopyRefused, InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.protocols.local.wire import Announcement
from modicum.protocols.shuffle.mean_vector import VectorSum
from modicum.protocols.shuffle.noise import Poisson, Polya, skellam_delta

SESSION = "00112233445566778899aabbccddeeff"
N = 3000


def small(**changes):
    arguments = {"dimension": 3, "radius": 100, "epsilon": 4, "delta": "1e-6", "clients": N}
    return shuffle.mean_vector(**(arguments | {"session": SESSION} | changes))


def vectors(n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)) + np.array([5.0, -7.0, 0.0])


class Session:
    """All parties, with what the shuffler released in each round."""

    def __init__(self, protocol, data, *, seed=1, kept=(1.0, 1.0, 1.0)) -> None:
        self.batch = shuffle.VectorBatch(protocol, len(data), entropy=SeededEntropy(seed))
        self.server = shuffle.VectorServer(protocol)
        self.released, self.announced, self.tallies = [], [], []
        while self.server.estimate is None:
            number = self.server.round
            self.announced.append(self.server.announcement)
            answers = self.batch.respond(data, self.server.announcement)
            size = protocol.messages[number - 1] * protocol.message_sizes[number - 1]
            assert len(answers) == size * len(data)
            shuffler = protocol.shuffler(number, entropy=SeededEntropy(f"{seed} {number}"))
            assert shuffler.add(answers[: size * int(len(data) * kept[number - 1])])
            self.released.append(shuffler.release())
            self.tallies.append(self.server.aggregate(self.released[-1]))
        self.estimate = self.server.estimate


@pytest.fixture(scope="module")
def played() -> Session:
    return Session(small(), vectors())


def test_the_mean_is_found_and_the_error_is_the_predicted_one() -> None:
    protocol = small()
    data = vectors()
    errors, predicted = [], []
    for seed in range(4):
        found = Session(protocol, data, seed=seed).estimate
        assert found.clients == (N, N, N)
        assert 3 < found.radius < 60
        errors.append(found.values - data.mean(axis=0))
        predicted.append(found.standard_error)
    standard = np.array(errors) / np.array(predicted)[:, None]
    # 12 numbers of variance 1.
    assert 0.45 < math.sqrt(np.mean(standard**2)) < 1.8


def test_dropouts_between_rounds_leave_the_mean_of_those_who_stayed() -> None:
    protocol = small(honest=2000)
    data = vectors()
    found = Session(protocol, data, kept=(1.0, 0.9, 0.7)).estimate
    assert found.clients == (3000, 2700, 2100)
    error = np.abs(found.values - data[:2100].mean(axis=0)).max()
    assert error < 5 * found.standard_error


def test_the_rounds_add_up_to_the_budget() -> None:
    """[shuffle.15], with every figure computed anew."""
    for changes in ({}, {"dimension": 40}, {"epsilon": "0.3"}):
        protocol = small(**changes)
        parts, total = protocol.parts, protocol.sum
        assert sum(part.amount for part in parts) == protocol.budget.amount
        assert sum(part.delta for part in parts) == protocol.budget.delta
        for size, part in zip(protocol.single, parts, strict=False):
            found = shuffle.amplified(size, clients=protocol.honest, delta=part.delta)
            assert found.amount <= part.amount
        noise = total.noise
        if isinstance(noise, Poisson):
            variance = float(2 * noise.rate * protocol.honest)
            assert variance == pytest.approx(total.variance)
            lost = skellam_delta(float(parts[2].amount), variance=variance, distance=2 * total.norm)
        else:
            assert noise.rate * math.sqrt(total.width) * 2 * total.norm <= parts[2].amount
            lost = 0.0
        told = (1 + math.exp(parts[2].amount)) * total.width * 2.0**-total.security
        assert lost + told <= float(parts[2].delta)
        assert told > float(parts[2].delta) / 5


def test_both_laws_of_noise_are_used_where_they_are_better() -> None:
    assert isinstance(small().sum.noise, Polya)
    assert isinstance(VectorSum(1, 64, Fraction(1), 1e-6, 30, N, N).noise, Poisson)


def test_what_is_summed_stays_in_the_ball_however_it_is_rounded() -> None:
    """Every corner of every cell that rounding can lead to, for vectors on the sphere."""
    total = VectorSum(1, 4, Fraction(1), 1e-6, 30, 1000, 900)
    directions = np.array(list(itertools.product((-3, -1, 0, 2), repeat=4)))[:-1]
    x = directions / np.maximum(np.linalg.norm(directions, axis=1), 1e-9)[:, None] * total.unit
    for up in itertools.product((0, 1), repeat=4):
        assert np.linalg.norm(np.floor(x) + up, axis=1).max() <= total.norm
    long = np.array([[10**9, 0, 0, 0], [-3, 4, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    rounded = total.rounded(long, 5, SeededEntropy(1))
    assert (np.linalg.norm(rounded, axis=1) <= total.norm).all()
    assert (
        np.abs(
            rounded / total.unit - [[1, 0, 0, 0], [-0.6, 0.8, 0, 0], [0.2, 0, 0, 0], [0] * 4]
        ).max()
        < 1 / total.unit
    )
    mean = np.mean([total.rounded(long[2:3], 7, SeededEntropy(seed))[0, 0] for seed in range(600)])
    assert abs(mean - total.unit / 7) < 5 * 0.5 / math.sqrt(600)


def test_the_worst_pair_of_sums_under_laplace_noise() -> None:
    """All pairs of integer vectors of a small ball: the exact loss of the honest noise."""
    total = VectorSum(1, 2, Fraction(2), 1e-9, 30, 100, 90)
    assert isinstance(total.noise, Polya)
    assert total.noise.size * total.honest == 1
    noise = LaplaceNoise(1 / total.noise.rate)
    # Loss is linear in the L1 distance, which is largest for opposite points of the diagonal.
    far = math.floor(total.norm / math.sqrt(2))
    loss = 2 * (noise.log_pmf(0) - noise.log_pmf(2 * far))
    assert 0.97 * 2 < loss <= 2


def test_no_message_links_two_rounds_and_all_are_as_long(played) -> None:
    first, second, third = played.released
    assert len(first) == len(second) == 22 * N
    numbers = [
        {frame[12:20] for frame in (text[i : i + 22] for i in range(0, len(text), 22))}
        for text in (first, second)
    ]
    assert len(numbers[0] & numbers[1]) == 0
    frames = np.frombuffer(third, small().sum.mix.layout)
    assert len(np.unique(frames[["magic", "version", "session"]])) == 1
    assert len(frames) == N * small().sum.shares * 4


def test_malformed_and_replayed_frames_are_refused(played) -> None:
    protocol = small()
    server = shuffle.VectorServer(protocol)
    first, second, third = played.released
    for wrong in (b"", first[:-1], second, third, first[: 22 * 100], bytes(len(first))):
        with pytest.raises(InvalidArgument):
            server.aggregate(wrong)
        assert server.round == 1
    tally = server.aggregate(first + first[:2200])
    assert (tally.accepted, tally.refused) == (N, {"replayed": 100})
    with pytest.raises(InvalidArgument):
        server.aggregate(first)
    other = np.frombuffer(second, np.uint8).reshape(-1, 22).copy()
    other[:7, 2] = 99
    other[7:9, 20:] = 255
    tally = server.aggregate(other.tobytes())
    assert (tally.accepted, tally.refused) == (N - 9, {"version": 7, "answer": 2})
    # The radius is that of N - 9 answers; whether it is the same as in the fixture is not asked.
    size = protocol.message_sizes[2]
    for wrong in (b"", third[:-1], third[:-size], third + third, second):
        with pytest.raises(InvalidArgument):
            server.aggregate(wrong)
    alien = np.frombuffer(third, small().sum.mix.layout)[:50].copy()
    alien["coordinate"] = 4
    tally = server.aggregate(third + alien.tobytes())
    assert (tally.accepted, tally.refused) == (N, {"share": 50})
    with pytest.raises(InvalidArgument):
        server.aggregate(third)


def test_threads_end_a_round_once(played) -> None:
    server = shuffle.VectorServer(small())

    def handed(_: int) -> int:
        try:
            return server.aggregate(played.released[0]).accepted
        except InvalidArgument:  # the round had ended
            return 0

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(handed, range(4))) == [0, 0, 0, N]
    assert server.round == 2
    assert server.announcement == played.announced[1]


def test_announcements_that_do_not_fit(played) -> None:
    protocol = small()
    batch = shuffle.VectorBatch(protocol, 1)
    row, tag = np.zeros((1, 3)), protocol.tag
    edge = protocol.vectors.places.last
    for number, parameters in (
        (1, (0,)),
        (2, ()),
        (2, (0, 0, 0)),
        (2, (0, 0, 0, edge + 1)),
        (3, (0, 0, 0, 0)),
        (3, (0, 0, 0, 0, 0)),
        (3, (0, 0, 0, 0, 1 << 63)),
        (3, (0, 0, 0, -edge - 1, 5)),
        (0, ()),
        (4, ()),
    ):
        with pytest.raises(InvalidArgument):
            batch.respond(row, Announcement(tag, number, parameters).to_bytes())
    with pytest.raises(InvalidArgument):
        batch.respond(row, Announcement(tag ^ 1, 1).to_bytes())
    # None of these cost anything.
    for said in played.announced:
        assert batch.respond(row, said)
        with pytest.raises(BudgetExceeded):
            batch.respond(row, said)
    with pytest.raises(CopyRefused):
        copy.copy(batch)


def test_values_of_any_size_are_answered(played) -> None:
    protocol = small()
    rows = np.array([[np.nan, np.inf, -np.inf], [1e300, -1e300, 0], [0, 0, 0]])
    for number, said in enumerate(played.announced):
        batch = shuffle.VectorBatch(protocol, 3)
        size = protocol.messages[number] * protocol.message_sizes[number]
        assert len(batch.respond(rows, said)) == 3 * size
    for wrong in (np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(3)):
        with pytest.raises(InvalidArgument):
            shuffle.VectorBatch(protocol, 3).respond(wrong, played.announced[0])


def test_the_radius_leaves_few_behind_and_ignores_noise() -> None:
    """3 % of the clients are 30 times as far; the range is 1000 times as wide."""
    data = vectors(6000)
    data[:180] += 1000
    found = Session(small(clients=6000, radius=1e4, epsilon=10), data).estimate
    assert 1000 < found.radius < 10_000
    assert np.abs(found.values - data.mean(axis=0)).max() < 6 * found.standard_error


def test_a_radius_of_a_million_times_the_spread_is_no_worse() -> None:
    data = vectors()
    narrow, wide = (Session(small(radius=radius), data).estimate.radius for radius in (100, 1e6))
    assert wide < 2.5 * narrow


@pytest.mark.parametrize(
    "wrong",
    [
        {"dimension": 0},
        {"dimension": 2.0},
        {"radius": 0},
        {"radius": math.nan},
        {"epsilon": 0},
        {"epsilon": 11},
        {"delta": 0},
        {"delta": 0.1},
        {"clients": 99},
        {"honest": N + 1},
        {"honest": 10},
        {"session": "abc"},
        {"session": "Z" * 32},
    ],
)
def test_arguments_that_cannot_be_used(wrong) -> None:
    with pytest.raises(InvalidArgument):
        small(**wrong)


def test_so_much_noise_for_so_few_clients_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="raise epsilon or clients"):
        VectorSum(1, 2048, Fraction(1, 10_000), 1e-3, 60, 100, 50)
    with pytest.raises(InvalidArgument):
        small().shuffler(4)
    with pytest.raises(InvalidArgument):
        shuffle.VectorBatch(small(), 0)
