"""Clients and servers: bytes, refusals, budgets, dropouts, and the law of every message."""

import copy
import itertools
import math
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from modicum import local, shuffle
from modicum.errors import BudgetExceeded, CopyRefused, InvalidArgument, UnsupportedData
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.accountant import total
from modicum.privacy.budget import Budget
from modicum.protocols.local.wire import Announcement

SESSION = "00112233445566778899aabbccddeeff"


def small(kind: str):
    common = {"within": (0, 8), "step": 1, "session": SESSION}
    return {
        "histogram": lambda: local.histogram(**common, epsilon="0.7"),
        "histogram-rho": lambda: local.histogram(**common, rho="0.3"),
        "mean": lambda: local.mean(**common, epsilon=2),
        "mean-rho": lambda: local.mean(**common, rho=2),
        "vector": lambda: local.mean_vector(dimension=3, radius=2, rho="0.5", session=SESSION),
    }[kind]()


KINDS = ["histogram", "histogram-rho", "mean", "mean-rho", "vector"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def values(kind: str, n: int) -> np.ndarray:
    return np.ones((n, 3)) if kind == "vector" else np.arange(n) % 9.0


def session(protocol, data, *, seed=1, kept=slice(None), check=None):
    batch = local.Batch(protocol, len(data), entropy=SeededEntropy(seed))
    server = local.Server(protocol)
    while server.estimate is None:
        if check is not None:
            check(server, batch)
        answers = batch.respond(data, server.announcement)
        size = len(answers) // max(1, int((batch.rounds == server.round).sum()))
        frames = [answers[i : i + size] for i in range(0, len(answers), size)]
        assert server.aggregate(frames[kept]).refused == {}
        server.close()
    return server.estimate


def announcements(kind: str) -> list[bytes]:
    """Those of all rounds of a short session."""
    found = []
    session(small(kind), values(kind, 400), check=lambda s, _: found.append(s.announcement))
    return found


@every_kind
def test_any_two_values_have_messages_within_the_budget(kind) -> None:
    """The whole law of the message, for all pairs of values, in every round, for many clients."""
    protocol = small(kind)
    told = announcements(kind)
    inputs = [0.0, 1.0, 3.5, 8.0, 99.0, float("nan")]
    if kind == "vector":
        inputs = [np.array(v, float) for v in itertools.product((-2, 0, 2), repeat=3)]
        # The tightest ball: all values are clipped to its surface.
        told[2] = Announcement(protocol.tag, 3, (0, 0, 0, 0, 1, 0, 0)).to_bytes()
    used = dict.fromkeys(range(1, protocol.rounds + 1), Fraction(0))
    checked = dict.fromkeys(used, 0)
    for seed in range(150):
        client = local.Client(protocol, entropy=SeededEntropy(seed))
        if checked[client.round] == (20 if client.round == 1 else 6):
            continue
        checked[client.round] += 1
        mechanisms = [client.mechanism(x, told[client.round - 1]) for x in inputs]
        assert total([mechanisms[0].event], protocol.budget.kind) <= protocol.budget
        used[client.round] = max(used[client.round], loss(mechanisms, protocol.budget.kind))
    assert min(checked.values()) >= 2
    for spent in used.values():
        assert float(spent) == pytest.approx(float(protocol.budget.amount), rel=1e-3)


def loss(mechanisms, currency: str) -> Fraction:
    """Worst loss of all pairs over all messages: exact for integer Gaussians, else a log ratio."""
    if hasattr(mechanisms[0], "values"):
        (sigma2,) = {noise.sigma2 for mechanism in mechanisms for noise in mechanism.noise}
        gaps = [
            sum((a - b) ** 2 for a, b in zip(one.values, other.values, strict=True))
            for one, other in itertools.combinations(mechanisms, 2)
        ]
        worst = max(gaps) / (2 * sigma2)
        assert worst <= mechanisms[0].event.rho
        return worst
    logs = np.array(
        [[mechanism.log_density(y) for y in mechanism.probes()] for mechanism in mechanisms]
    )
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    worst = float((logs[:, None] - logs[None]).max())
    assert worst <= float(mechanisms[0].window.epsilon) * (1 + 1e-12)
    return Fraction(worst) if currency == "pure" else Fraction(worst) ** 2 / 2


@every_kind
def test_a_message_is_as_long_for_every_value_and_spends_the_budget_once(kind) -> None:
    protocol = small(kind)
    told = announcements(kind)
    row = values(kind, 9)
    client = local.Client(protocol, entropy=SeededEntropy(3))
    said = told[client.round - 1]
    nothing = Budget(protocol.budget.kind, Fraction(0))
    assert client.spent == nothing
    message = client.respond(row[4], said)
    with pytest.raises(BudgetExceeded):
        client.respond(row[4], said)
    assert nothing.amount < client.spent.amount <= protocol.budget.amount
    assert abs(float(client.spent.amount - protocol.budget.amount)) < 1e-9
    others = [local.Client(protocol, entropy=SeededEntropy(seed)) for seed in range(40)]
    lengths = {
        len(other.respond(row[seed % 9], said))
        for seed, other in enumerate(others)
        if other.round == client.round
    }
    assert lengths == {len(message)}


@pytest.mark.parametrize("kind", ["mean", "mean-rho", "vector"])
def test_a_client_answers_its_own_round_and_no_other(kind) -> None:
    """Each answer has the whole budget, so two of them would be twice the cost."""
    protocol, told, row = small(kind), announcements(kind), values(kind, 1)[0]
    clients = [local.Client(protocol, entropy=SeededEntropy(seed)) for seed in range(40)]
    assert {client.round for client in clients} == set(range(1, protocol.rounds + 1))
    for client in clients:
        for number, said in enumerate(told, start=1):
            if number != client.round:
                with pytest.raises(InvalidArgument, match=f"answers round {client.round}"):
                    client.respond(row, said)
        assert client.spent.amount == 0
        assert client.respond(row, told[client.round - 1])


@every_kind
def test_messages_of_single_clients_and_of_a_batch_are_taken_alike(kind) -> None:
    protocol = small(kind)
    server, told = local.Server(protocol), None
    clients = [local.Client(protocol, entropy=SeededEntropy(seed)) for seed in range(30)]
    batch = local.Batch(protocol, 30, entropy=SeededEntropy("batch"))
    told = server.announcement
    single = [c.respond(values(kind, 1)[0], told) for c in clients if c.round == 1]
    assert server.aggregate(single).accepted == len(single)
    joined = batch.respond(values(kind, 30), told)
    assert len(joined) == len(single[0]) * int((batch.rounds == 1).sum())
    assert server.aggregate([joined]).accepted == int((batch.rounds == 1).sum())


@every_kind
def test_what_is_wrong_is_refused_and_counted(kind) -> None:
    protocol = small(kind)
    server = local.Server(protocol)
    client = next(
        c
        for c in (local.Client(protocol, entropy=SeededEntropy(seed)) for seed in range(99))
        if c.round == 1
    )
    good = client.respond(values(kind, 1)[0], server.announcement)

    def altered(place: int, to: bytes) -> bytes:
        return good[:place] + to + good[place + len(to) :]

    wrong = {
        "length": [b"", good[:-1], good + b"x"],
        "version": [altered(0, b"XX"), altered(2, b"\x07")],
        "round": [altered(3, b"\x09")],
        "session": [altered(4, b"\xff" * 8)],
        "answer": [altered(20, b"\xff\xff")],
    }
    for reason, messages in wrong.items():
        for message in messages:
            tally = server.aggregate([message])
            assert (tally.accepted, tally.refused) == (0, {reason: 1})
    for message in (good, good.hex(), bytearray(good)):
        with pytest.raises(InvalidArgument, match=r"give \[message\]"):
            server.aggregate(message)
    assert server.aggregate([5, None, "x", good.hex()]).refused == {"length": 4}
    assert server.aggregate([good, good]).refused == {"replayed": 1}
    assert server.aggregate([good + good]).refused == {"replayed": 2}
    if protocol.rounds > 1:
        other = next(
            c
            for c in (local.Client(protocol, entropy=SeededEntropy(seed)) for seed in range(99))
            if c.round == 2
        )
        number = other.number.to_bytes(8, "little")
        assert server.aggregate([altered(12, number)]).refused == {"client": 1}


def test_another_sessions_or_parameters_announcement_is_refused() -> None:
    client = local.Client(local.histogram(within=(0, 8), step=1, epsilon=1, session=SESSION))
    for other in (
        local.histogram(within=(0, 8), step=1, epsilon=1),
        local.histogram(within=(0, 8), step=1, epsilon=2, session=SESSION),
    ):
        with pytest.raises(InvalidArgument, match="another session"):
            client.respond(1, local.Server(other).announcement)
    assert client.spent.amount == 0


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[1]", b"\xff", b"[" * 100_000, b'{"schema":"modicum.local/2"}', b"null"],
)
def test_what_is_no_announcement(data) -> None:
    client = local.Client(small("mean"))
    with pytest.raises(InvalidArgument):
        client.respond(1, data)
    assert client.spent.amount == 0


@pytest.mark.parametrize("parameters", [(5, 5, 0), (-1, 4, 0), (0, 9, 0), (0, 4), (0, 4, 0, 0)])
def test_bounds_that_no_server_announces(parameters) -> None:
    protocol = small("mean")
    client = next(c for c in (local.Client(protocol) for _ in range(99)) if c.round == 2)
    with pytest.raises(InvalidArgument):
        client.respond(1, Announcement(protocol.tag, 2, parameters).to_bytes())
    assert client.spent.amount == 0


@every_kind
def test_dropouts_leave_the_session_going(kind) -> None:
    """A third answers; then nobody."""
    for kept in (slice(None, None, 3), slice(0)):
        found = session(small(kind), values(kind, 300), kept=kept)
        assert np.isfinite(np.atleast_1d(getattr(found, "value", 0.0))).all()


def test_a_radius_that_no_server_announces() -> None:
    protocol = small("vector")
    client = next(c for c in (local.Client(protocol) for _ in range(99)) if c.round == 3)
    for radius in (0, -1, 10**400):
        said = Announcement(protocol.tag, 3, (0, 0, 0, 0, radius, 1, 1)).to_bytes()
        with pytest.raises(InvalidArgument):
            client.respond([0.0, 0.0, 0.0], said)
    assert client.spent.amount == 0


def test_a_batch_answers_a_round_once_and_says_what_each_client_spent() -> None:
    protocol = small("mean-rho")
    batch, server = local.Batch(protocol, 50), local.Server(protocol)
    batch.respond(np.zeros(50), server.announcement)
    with pytest.raises(BudgetExceeded):
        batch.respond(np.zeros(50), server.announcement)
    for number, spent in zip(batch.rounds, batch.spent, strict=True):
        assert spent <= protocol.budget
        assert (spent.amount > 0) == (number == 1)


def test_dropouts_leave_the_mean_unbiased() -> None:
    """Half of the clients vanish: the error stays within what its standard error says."""
    protocol = local.mean(within=(0, 8), epsilon=6, session=SESSION)
    data = np.tile([2.0, 3.0, 4.0], 4000)
    for seed in range(4):
        found = session(protocol, data, seed=seed, kept=slice(None, None, 2))
        assert abs(found.value - 3.0) < 5 * found.standard_error
        assert found.clients < 5000


def test_estimates_are_near_the_truth() -> None:
    rng = np.random.default_rng(4)
    data = rng.normal(40, 5, 30_000)
    shape = session(local.histogram(within=(-1e6, 1e6), epsilon=3, session=SESSION), data)
    assert shape.below(40) == pytest.approx(0.5, abs=5 * shape.deviation)
    assert shape.quantile(0.5) == pytest.approx(40, abs=2)
    assert shape.share(35, 45) == pytest.approx(0.68, abs=5 * shape.deviation)
    mean = session(local.mean(within=(-1e6, 1e6), epsilon=3, session=SESSION), data)
    assert mean.high - mean.low < 200
    assert mean.value == pytest.approx(40, abs=1)
    vectors = rng.normal((3, -1, 0), 1, (30_000, 3))
    protocol = local.mean_vector(dimension=3, radius=50, rho=2, session=SESSION)
    found = session(protocol, vectors)
    assert np.abs(found.values - (3, -1, 0)).max() < 0.2
    assert found.radius < 10


def test_the_quantiles_of_one_value_are_that_value() -> None:
    """A cell of one integer holds nothing between it and the next."""
    for value in (0.0, 4.0, 5.0, 8.0):
        protocol = local.histogram(within=(0, 8), step=1, epsilon=12, session=SESSION)
        shape = session(protocol, np.full(5000, value))
        assert [shape.quantile(q) for q in (0.25, 0.5, 0.75)] == [value] * 3


def test_values_of_another_kind_or_shape() -> None:
    batch = local.Batch(small("mean"), 3)
    said = local.Server(small("mean")).announcement
    for wrong, error in (
        (["a", "b", "c"], UnsupportedData),
        (np.ones((3, 2)), InvalidArgument),
        (np.ones(4), InvalidArgument),
        (np.array(["a", 2, 3], object), UnsupportedData),
        ([1, 2, 3j], UnsupportedData),
    ):
        with pytest.raises(error):
            batch.respond(wrong, said)
    with pytest.raises(InvalidArgument):
        local.Batch(small("vector"), 2).respond(
            np.ones((2, 4)), local.Server(small("vector")).announcement
        )


@pytest.mark.parametrize(
    "value", [None, 10**19, 10**20, -(10**400), Fraction(1, 3), True, np.longdouble("1e4000")]
)
def test_no_number_is_too_large_to_be_answered(value) -> None:
    """Neither silence nor a warning tells a value."""
    protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    said = local.Server(protocol).announcement
    assert len(local.Client(protocol).respond(value, said)) == 22
    assert len(local.Batch(protocol, 2).respond([1.5, value], said)) == 44
    vectors = local.mean_vector(dimension=2, radius=1, rho=1)
    client = next(c for c in (local.Client(vectors) for _ in range(999)) if c.round == 1)
    assert client.respond([0.5, value], local.Server(vectors).announcement)


class NAType:
    """A missing number as pandas has it: neither equal to itself nor not."""

    def __eq__(self, other: object):
        return self

    def __bool__(self) -> bool:
        raise TypeError("ambiguous")

    __hash__ = None


NaTType = type("NaTType", (), {})


@pytest.mark.parametrize(
    "missing",
    [None, math.nan, NAType(), NaTType(), np.ma.masked],
    ids=["None", "nan", "NA", "NaT", "masked"],
)
def test_what_is_missing_is_answered_however_it_is_written(missing) -> None:
    """With the law of the middle of the range, alone, in a list and in a column of objects."""
    protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    said = local.Server(protocol).announcement
    client = local.Client(protocol, entropy=SeededEntropy(1))
    assert client.mechanism(missing, said) == client.mechanism(4.0, said)
    assert len(client.respond(missing, said)) == 22
    column = np.empty(3, object)
    column[:] = [missing, 5, 10**30]
    for values in ([missing, 5, 10**30], (missing, 5, 10**30), column):
        assert protocol.read(values).tolist() == [4.0, 5.0, 1e30]
    vectors = local.mean_vector(dimension=3, radius=1, rho=1)
    assert vectors.read([column, column]).tolist() == [[0.0, 5.0, 1e30]] * 2


def test_what_is_masked_is_missing_whatever_stands_there() -> None:
    protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    for kind in (float, int, object):
        hidden = np.ma.array(np.array([1, 7], kind), mask=[False, True])
        assert protocol.read(hidden).tolist() == [1.0, 4.0]
        said = local.Server(protocol).announcement
        client = local.Client(protocol, entropy=SeededEntropy(1))
        assert client.mechanism(hidden[1], said) == client.mechanism(4.0, said)
    vectors = local.mean_vector(dimension=2, radius=1, rho=1)
    row = np.ma.array([0.5, 0.7], mask=[False, True])
    client = next(c for c in (local.Client(vectors) for _ in range(999)) if c.round == 1)
    said = local.Server(vectors).announcement
    assert client.mechanism(row, said) == client.mechanism([0.5, 0.0], said)


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 0},
        {"epsilon": 1, "session": 5},
        {"epsilon": 1, "session": list(SESSION)},
        {"epsilon": 100},
        {"epsilon": "1e-9"},
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "session": "abc"},
        {"epsilon": 1, "step": 3},
    ],
)
def test_arguments_that_cannot_be_used(arguments) -> None:
    with pytest.raises(InvalidArgument):
        local.mean(within=(0, 8), **arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        {"dimension": 0},
        {"dimension": 1.5},
        {"radius": 0},
        {"radius": float("nan")},
        {"radius": "5"},
        {"radius": True},
        {"rho": "6e-7"},
    ],
)
def test_vectors_that_cannot_be(wrong) -> None:
    with pytest.raises(InvalidArgument):
        local.mean_vector(**({"dimension": 3, "radius": 1, "rho": 1} | wrong))


def test_clients_are_neither_copied_nor_pickled() -> None:
    for client in (local.Client(small("mean")), local.Batch(small("mean"), 2)):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(CopyRefused):
                attempt(client)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork processes")
def test_a_forked_process_does_not_answer_for_its_parents_clients() -> None:
    protocol = small("histogram")
    said = local.Server(protocol).announcement
    total_sum = shuffle.split_sum(within=(0, 1), epsilon=1, clients=100)
    clients = (
        (local.Client(protocol), (1, said)),
        (local.Batch(protocol, 1), ([1], said)),
        (shuffle.SumBatch(total_sum, 1), ([1],)),
    )
    for client, arguments in clients:
        child = os.fork()
        if not child:
            try:
                client.respond(*arguments)
            except CopyRefused:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert client.respond(*arguments)


def test_a_finished_session_takes_nothing_more() -> None:
    server = local.Server(small("histogram"))
    server.close()
    with pytest.raises(InvalidArgument):
        server.aggregate([])
    with pytest.raises(InvalidArgument):
        server.close()


def in_threads(work, number: int) -> list:
    """Call ``work`` with 0, 1, ..., all at once."""
    gate = threading.Barrier(number)

    def called(i: int):
        gate.wait()
        return work(i)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(called, range(number)))


class SlowSet(set):
    """Lets other threads run between a look and what is done after it."""

    def __contains__(self, x: object) -> bool:
        found = super().__contains__(x)
        time.sleep(1e-4)
        return found


@pytest.fixture
def hurried():
    """Threads that take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_count_every_client_once() -> None:
    """Four threads hand over the same messages, one by one."""
    protocol = small("histogram")
    batch, server = local.Batch(protocol, 50), local.Server(protocol)
    server._seen = SlowSet()
    answers = batch.respond(values("histogram", 50), server.announcement)
    frames = [answers[i : i + 22] for i in range(0, len(answers), 22)]

    def handed(_: int) -> int:
        return sum(server.aggregate([frame]).accepted for frame in frames)

    assert sum(in_threads(handed, 4)) == 50
    server.close()
    assert server.estimate.clients == 50


class SlowEntropy(SeededEntropy):
    """Lets other threads run before a draw, and counts the draws."""

    def __init__(self, seed: object) -> None:
        super().__init__(seed)
        self.drawn = 0

    def word(self) -> int:
        self.drawn += 1
        time.sleep(0.02)
        return super().word()


def test_threads_that_ask_one_client_get_one_answer() -> None:
    """Charged before the draw, under the lock: all others are refused and draw nothing."""
    for kind in ("histogram", "mean"):
        protocol = small(kind)
        said = announcements(kind)
        slow = SlowEntropy(3)
        client = local.Client(protocol, entropy=slow)

        def asked(_: int, client=client, said=said) -> int:
            try:
                return len(client.respond(5.0, said[client.round - 1]))
            except BudgetExceeded:
                return 0

        slow.drawn = 0
        assert sorted(in_threads(asked, 6)) == [0] * 5 + [22]
        once = slow.drawn
        alone = SlowEntropy(3)
        twin = local.Client(protocol, entropy=alone)
        alone.drawn = 0
        twin.respond(5.0, said[twin.round - 1])
        assert once == alone.drawn > 0


def test_a_client_whose_draw_fails_has_spent_its_budget() -> None:
    """What was drawn may be known already."""

    class Broken(SeededEntropy):
        def word(self) -> int:
            raise RuntimeError("no entropy")

    protocol = small("histogram")
    client = local.Client(protocol, entropy=Broken(1))
    said = local.Server(protocol).announcement
    with pytest.raises(RuntimeError):
        client.respond(5.0, said)
    assert client.spent == protocol.budget
    with pytest.raises(BudgetExceeded):
        client.respond(5.0, said)


def test_what_comes_while_a_round_is_closed_counts_in_it_or_not_at_all(hurried) -> None:
    for kind in ("histogram", "mean"):
        protocol = small(kind)
        batch, server = local.Batch(protocol, 300), local.Server(protocol)
        answers = batch.respond(values(kind, 300), server.announcement)
        frames = [answers[i : i + 22] for i in range(0, len(answers), 22)]
        closed = threading.Event()

        def handed(i: int, server=server, frames=frames, closed=closed) -> tuple[int, int]:
            if i == 0:
                time.sleep(0.005)
                server.close()
                closed.set()
                return 0, 0
            taken = late = 0
            for frame in frames[i - 1 :: 3]:
                try:
                    tally = server.aggregate([frame])
                except InvalidArgument:  # the session was over
                    assert closed.is_set() or server.estimate is not None
                    continue
                taken += tally.accepted
                late += tally.refused.get("round", 0)
                assert tally.accepted + tally.refused.get("round", 0) == 1
            return taken, late

        taken = sum(taken for taken, _ in in_threads(handed, 4))
        while server.estimate is None:
            server.close()
        found = server.estimate
        assert (found.clients if kind == "histogram" else found.located_by) == taken


def test_a_round_that_ends_while_messages_are_read() -> None:
    protocol = small("histogram")
    batch, server = local.Batch(protocol, 20), local.Server(protocol)
    answers = batch.respond(values("histogram", 20), server.announcement)

    def messages():
        yield answers
        server.close()

    tally = server.aggregate(messages())
    assert (tally.accepted, tally.refused) == (0, {"round": 20})
    assert server.estimate.clients == 0
