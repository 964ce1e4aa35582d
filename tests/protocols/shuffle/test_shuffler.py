"""The shuffler's permutation, and what shuffling is worth."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum import approx, local, shuffle
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.protocols.local.wire import Announcement
from modicum.protocols.shuffle.single import _binomial, _DominatingPair


def test_every_order_is_equally_likely() -> None:
    entropy = SeededEntropy(5)
    seen: Counter = Counter()
    for _ in range(2400):
        shuffler = shuffle.Shuffler(size=1, least=1, entropy=entropy)
        shuffler.add(b"abcd")
        seen[shuffler.release()] += 1
    assert len(seen) == 24
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


def test_too_few_people_are_not_released_and_stay() -> None:
    shuffler = shuffle.Shuffler(size=2, each=2, least=2)
    assert shuffler.add(b"abcd")
    assert not shuffler.add(b"ab")
    with pytest.raises(InvalidArgument):
        shuffler.release()
    assert shuffler.add(b"efgh")
    assert len(shuffler.release()) == 8
    assert shuffler.people == 0
    for wrong in ({"size": 0}, {"size": 2.5}, {"each": None}, {"least": "3"}):
        with pytest.raises(InvalidArgument):
            shuffle.Shuffler(**({"size": 2, "least": 1} | wrong))


def test_what_is_not_made_of_bytes_is_not_taken_and_nothing_changes_later() -> None:
    shuffler = shuffle.Shuffler(size=2, least=2)
    assert not any(shuffler.add(wrong) for wrong in ("ab", None, 2, [1, 2]))
    data = bytearray(b"ab")
    assert shuffler.add(data)
    data[:] = b"xy"
    assert shuffler.add(memoryview(b"cd"))
    assert sorted(shuffler.release().decode()) == list("abcd")


def test_what_was_heard_before_is_not_taken_again() -> None:
    shuffler = shuffle.Shuffler(size=1, each=2, least=2)
    assert shuffler.add(b"abcd")
    for again in (b"ab", b"cd", b"abcd", b"cdef", b"efef", b"efab"):
        assert not shuffler.add(again)
        assert shuffler.people == 2
    for turned in (b"ba", b"badc", b"efba"):  # the same frames in another order
        assert not shuffler.add(turned)
    assert not shuffler.add(b"efgkhgfe")  # twice in one message
    for part in (b"ae", b"eb", b"efgd", b"bc"):  # a frame that occurred, with others
        assert not shuffler.add(part)
    assert shuffler.add(b"gh")  # what was refused is as if it had not come
    assert len(shuffler.release()) == 6
    assert not shuffler.add(b"ab")
    assert not shuffler.add(b"ak")
    assert not shuffler.add(b"id")
    assert shuffler.people == 0
    assert shuffler.add(b"efij")
    assert sorted(shuffler.release().decode()) == list("efij")


def test_a_worker_that_repeats_itself_is_heard_once() -> None:
    """A batch that is sent twice, and a person's frames in a batch of others."""
    protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=100)
    whole = protocol.shares * protocol.frame_size
    shuffler = protocol.shuffler()
    first, second = (shuffle.SumBatch(protocol, 50).respond(np.full(50, 0.5)) for _ in range(2))
    assert shuffler.add(first)
    assert not shuffler.add(first)
    assert not shuffler.add(second + first[:whole])
    assert shuffler.add(second)
    assert shuffle.analysed(protocol, shuffler.release()).clients == 100


def filled(whole: bytes, others: bytes, size: int, kept: list[int]) -> bytes:
    """Another person's message, in which some frames are copies, in the places of their kind."""
    places = [slice(i * size, (i + 1) * size) for i in range(len(whole) // size)]
    return b"".join(whole[at] if i in kept else others[at] for i, at in enumerate(places))


@pytest.mark.parametrize("kind", ["sum", "vector-3"])
@pytest.mark.parametrize("parts", [2, 3, 5])
def test_a_part_of_a_persons_frames_is_not_taken_again(kind, parts) -> None:
    """In several messages, turned round, before and after a release, and beside whole others."""
    build, number = KINDS[kind]
    protocol = build()
    shuffler = protocol.shuffler(number)
    mine, *others = messages(protocol, number, 95)
    size = protocol.frame_size if kind == "sum" else protocol.message_sizes[2]
    count = len(mine) // size
    copies = [
        filled(mine, other, size, [i for i in range(count) if i % parts == part])
        for part, other in zip(range(parts), messages(protocol, number, parts, seed=7), strict=True)
    ]
    turned = [
        b"".join(sorted(each[i : i + size] for i in range(0, len(each), size))) for each in copies
    ]
    fresh = messages(protocol, number, 1, seed=9)
    assert shuffler.add(mine)
    for copy in (*copies, *turned):
        assert not shuffler.add(copy)
        assert not shuffler.add(fresh[0] + copy)  # not even in a batch
    assert shuffler.add(b"".join(others))
    assert not any(shuffler.add(copy) for copy in copies)
    seen = shuffler.release()
    assert not any(shuffler.add(copy) for copy in copies)
    frames = [seen[i : i + size] for i in range(0, len(seen), size)]
    assert len(set(frames)) == len(frames) == 95 * count
    # Without a shuffler that looks at each frame, what comes twice is what that person sent.
    twice = Counter(frames + [c[i : i + size] for c in copies for i in range(0, len(c), size)])
    assert sorted(f for f, n in twice.items() if n > 1) == sorted(
        mine[i : i + size] for i in range(0, len(mine), size)
    )


def test_frames_of_equal_shares_are_told_apart() -> None:
    """Shares of 21 bits occur twice by chance, in honest messages that have to be taken."""
    protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=2000, honest=1000)
    sent = shuffle.SumBatch(protocol, 2000, entropy=SeededEntropy(3)).respond(np.ones(2000))
    frames = np.frombuffer(sent, protocol.mix.layout)
    assert len(np.unique(frames["share"])) < len(frames)
    assert len(np.unique(frames["nonce"].ravel())) == 2 * len(frames)
    shuffler = protocol.shuffler()
    assert shuffler.add(sent)


@pytest.mark.parametrize("clients", [100, 1 << 14, 1 << 24])
@pytest.mark.parametrize("security", [20, 80])
def test_a_chance_refusal_is_within_what_the_number_of_shares_leaves(clients, security) -> None:
    """[shuffle.17]: the proof of [shuffle.5] loses less than 0.62 of the 2^-security it may."""
    for epsilon in ("0.001", "10"):
        protocol = shuffle.split_sum(
            within=(0, 1), epsilon=epsilon, clients=clients, security=security
        )
        frames = protocol.clients * protocol.shares
        assert frames**2 / 2 ** (129 + protocol.bits) < 0.38 / 2**security
    for dimension in (1, 1000):
        kind = {"dimension": dimension, "radius": 9, "epsilon": 4, "delta": "1e-12"}
        if dimension == 1000 and clients == 100:
            continue  # too few for so much noise
        total = shuffle.mean_vector(**kind, clients=clients).sum
        frames = total.clients * total.shares
        assert total.width * frames**2 / 2 ** (129 + total.bits) < 0.38 / 2**total.security


def vector():
    return shuffle.mean_vector(dimension=3, radius=9, epsilon=4, delta="1e-6", clients=100)


def single(**changes):
    common = {"within": (0, 8), "step": 1, "epsilon": 1, "delta": "1e-6", "clients": 100}
    return shuffle.histogram(**(common | changes))


KINDS = {
    "sum": (lambda: shuffle.split_sum(within=(0, 1), epsilon=1, clients=100), 1),
    "vector-1": (vector, 1),
    "vector-3": (vector, 3),
    "single": (single, 1),
}


def messages(protocol, number: int, clients: int, seed: int = 1) -> list[bytes]:
    """One message of each client."""
    entropy = SeededEntropy(seed)
    if isinstance(protocol, shuffle.Sum):
        joined = shuffle.SumBatch(protocol, clients, entropy=entropy).respond(np.ones(clients))
    elif isinstance(protocol, shuffle.MeanVector):
        parameters = (0, 0, 0, 0, 1 << 20)[: (0, 4, 5)[number - 1]]
        said = Announcement(protocol.tag, number, parameters).to_bytes()
        batch = shuffle.VectorBatch(protocol, clients, entropy=entropy)
        joined = batch.respond(np.ones((clients, 3)), said)
    else:
        batch = local.Batch(protocol.protocol, clients, entropy=entropy)
        joined = batch.respond(np.ones(clients), protocol.protocol.first().to_bytes())
    size = len(joined) // clients
    return [joined[i : i + size] for i in range(0, len(joined), size)]


@pytest.mark.parametrize("kind", KINDS)
def test_one_flipped_bit_or_one_person_too_many_is_not_taken(kind) -> None:
    """Every bit before the share of one frame: it would spoil the answers of all."""
    build, number = KINDS[kind]
    protocol = build()
    shuffler = protocol.shuffler() if kind == "sum" else protocol.shuffler(number)
    (mine,) = messages(protocol, number, 1, seed=2)
    public = {"sum": 11, "vector-1": 12, "vector-3": 13, "single": 12}[kind]
    for bit in range(8 * public):
        turned = bytearray(mine)
        turned[bit // 8] ^= 1 << bit % 8
        assert not shuffler.add(turned)
    assert shuffler.people == 0
    many = messages(protocol, number, 100)
    assert all(shuffler.add(one) for one in many)
    assert not shuffler.add(mine)
    assert shuffler.people == 100
    assert len(shuffler.release()) == 100 * len(mine)


def test_another_round_session_or_coordinate_is_not_taken() -> None:
    protocol = vector()
    (first,) = messages(protocol, 1, 1)
    (other,) = messages(protocol, 2, 1)
    assert not protocol.shuffler(1).add(other)
    assert not vector().shuffler(1).add(first)  # another session
    (shares,) = messages(protocol, 3, 1)
    size, each = protocol.message_sizes[2], protocol.sum.shares
    # All shares of one coordinate, in the place of another's.
    swapped = shares[: size * each] * 2 + shares[2 * size * each :]
    assert not protocol.shuffler(3).add(swapped)
    assert protocol.shuffler(3).add(shares)


def test_a_liars_impossible_answer_does_not_end_a_round() -> None:
    protocol = vector()
    server, shuffler = shuffle.VectorServer(protocol), protocol.shuffler(1)
    sent = messages(protocol, 1, protocol.honest)
    assert all(shuffler.add(one) for one in (*sent[1:], sent[0][:20] + b"\xff\xff"))
    tally = server.aggregate(shuffler.release())
    assert (tally.accepted, tally.refused) == (protocol.honest - 1, {"answer": 1})
    assert server.round == 2


def test_frames_tell_which_crowd_their_senders_were_promised() -> None:
    """(ε, honest) of 1 and 9000, and what leads to the same ε of a message with a smaller crowd."""
    session = "00112233445566778899aabbccddeeff"
    common = {"within": (0, 8), "step": 1, "delta": "1e-8", "clients": 10_000, "session": session}
    told = shuffle.histogram(**common, epsilon=1, honest=9000)
    for changes in ({"honest": 1500}, {"epsilon": "0.999"}, {"clients": 9999}, {"delta": "2e-8"}):
        made = shuffle.histogram(**({"epsilon": 1, "honest": 9000} | common | changes))
        assert made.protocol.tag != told.protocol.tag
        message = local.Client(told.protocol).respond(3, told.protocol.first().to_bytes())
        assert not made.shuffler(1).add(message)
        assert told.shuffler(1).add(message)
        assert local.Server(made.protocol).aggregate([message]).refused == {"session": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"most": 1},
        {"most": 2.0},
        {"heads": [b"a"]},
        {"heads": [b"a", b"bc"]},
        {"heads": [b"", b""]},
        {"heads": [b"abc", b"abd"]},
    ],
)
def test_what_a_shuffler_cannot_be_told(wrong) -> None:
    with pytest.raises(InvalidArgument):
        shuffle.Shuffler(**({"size": 2, "each": 2, "least": 2} | wrong))


def test_frames_of_one_person_among_many_land_anywhere() -> None:
    """Ranks of 16 frames among 160,000: uniform, and in no order of their own."""
    shuffler = shuffle.Shuffler(size=4, each=16, least=1, entropy=SeededEntropy(11))
    numbers = np.arange(160_000, dtype="<u4")
    assert shuffler.add(numbers.tobytes())
    released = np.frombuffer(shuffler.release(), "<u4")
    place = np.empty(len(numbers))
    place[released] = np.arange(len(numbers))
    people = place.reshape(-1, 16)
    assert stats.kstest(place[:16] / len(numbers), "uniform").pvalue > 1e-4
    # Of two frames of a person that land near each other, either comes first as often as not.
    first, second = np.triu_indices(16, 1)
    gaps = (people[:, second] - people[:, first]).ravel()
    for near in (10, 100, 1000):
        close = gaps[np.abs(gaps) <= near]
        assert len(close) > 100
        assert stats.binomtest(int((close > 0).sum()), len(close)).pvalue > 1e-4
    # So few keys that frames share them would keep such frames in their order.
    keys = SeededEntropy(11).words(len(numbers)) >> np.uint64(56)
    place[np.argsort(keys, kind="stable")] = np.arange(len(numbers))
    gaps = (people[:, second] - people[:, first]).ravel()
    close = gaps[np.abs(gaps) <= 100]
    assert stats.binomtest(int((close > 0).sum()), len(close)).pvalue < 1e-9


def test_blocks_of_clones_bound_the_divergence_from_above() -> None:
    """The sum over every number of clones, one by one, is never more than that by blocks."""
    for epsilon0, n in ((1.0, 900), (3.0, 9000), (4.0, 30_000)):
        pair, exact = _DominatingPair(epsilon0, n), _DominatingPair(epsilon0, n, blocks=10**9)
        assert len(pair._pairs) < len(exact._pairs)
        for epsilon in (0.02, 0.1, 0.3):
            truth = exact.delta(epsilon)
            assert truth <= pair.delta(epsilon) <= 1.5 * truth + 2e-15


def test_local_messages_survive_a_shuffler() -> None:
    protocol = local.histogram(within=(0, 16), step=1, epsilon=4)
    batch, server = local.Batch(protocol, 2000), local.Server(protocol)
    shuffler = shuffle.Shuffler(size=22, least=1000)
    assert shuffler.add(batch.respond(np.arange(2000) % 16, server.announcement))
    assert server.aggregate([shuffler.release()]).accepted == 2000


def exact_delta(epsilon0: float, n: int, epsilon: float) -> float:
    """The shuffled binary response, 0 against 1 for one of n who all have 0: all outcomes."""
    keep = 1 / (1 + math.exp(-epsilon0))
    rest = stats.binom.pmf(np.arange(n + 1), n - 1, 1 - keep)
    moved = np.append(0.0, rest[:-1])
    one, other = keep * rest + (1 - keep) * moved, (1 - keep) * rest + keep * moved
    return max(
        float(np.maximum(a - math.exp(epsilon) * b, 0).sum())
        for a, b in itertools.permutations((one, other))
    )


@pytest.mark.parametrize(("epsilon0", "n"), [("0.5", 50), ("1", 500), ("3", 2000)])
def test_the_bound_holds_for_a_law_that_is_known_and_is_not_far_from_it(epsilon0, n) -> None:
    bound = shuffle.amplified(epsilon0, clients=n, delta="1e-6")
    needed = exact_delta(float(epsilon0), n, float(bound.amount))
    assert needed <= 1e-6
    assert exact_delta(float(epsilon0), n, float(bound.amount) / 2) > 1e-6


def test_more_people_hide_more_and_never_less_than_nothing() -> None:
    found = [shuffle.amplified(1, clients=n, delta="1e-8").amount for n in (2, 100, 10_000)]
    assert found[0] == 1
    assert found[0] >= found[1] > found[2] > 0


def test_the_local_epsilon_is_within_the_budget() -> None:
    budget = approx("0.5", "1e-8")
    size = shuffle.local_epsilon(budget, clients=20_000)
    assert shuffle.amplified(size, clients=20_000, delta="1e-8").amount <= Fraction(1, 2)
    assert shuffle.amplified(size * 2, clients=20_000, delta="1e-8").amount > Fraction(1, 2)


def test_masses_keep_their_digits_for_many_people() -> None:
    """A smaller delta costs a little, and never all that shuffling gains."""
    for clients in (100_000, 10_000_000):
        found = [
            float(shuffle.amplified(2, clients=clients, delta=delta).amount)
            for delta in ("1e-9", "1e-11", "1e-13")
        ]
        assert found[0] < found[1] < found[2] < 1.5 * found[0]
    k = np.arange(4_900_000, 5_100_001)
    masses = _binomial(k, 10_000_000, 0.5)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    middle = math.comb(10_000, 5_000) / 2**10_000
    k = np.arange(4_000, 6_001)
    assert _binomial(k, 10_000, 0.5)[1_000] == pytest.approx(middle, rel=1e-12)


def test_where_shuffling_gains_nothing_the_local_epsilon_is_the_budget_and_no_more() -> None:
    for text in ("0.1234567891", "1.23456789012"):
        budget = approx(text, "1e-18")
        assert shuffle.local_epsilon(budget, clients=2) == Fraction(text)


@pytest.mark.parametrize("clients", [2.5, float("nan"), float("inf"), "5", None])
def test_people_are_counted_in_integers(clients) -> None:
    with pytest.raises(InvalidArgument):
        shuffle.amplified(1, clients=clients, delta="1e-6")


@pytest.mark.parametrize(("epsilon", "clients", "delta"), [(0, 9, 0.1), (1, 1, 0.1), (1, 9, 1)])
def test_arguments_that_cannot_be_used(epsilon, clients, delta) -> None:
    with pytest.raises(InvalidArgument):
        shuffle.amplified(epsilon, clients=clients, delta=delta)
