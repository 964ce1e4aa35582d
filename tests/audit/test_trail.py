"""The leak detector catches every kind of step or answer that depends on data."""

from collections.abc import Callable
from fractions import Fraction

import polars as pl
import pytest

from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Family
from modicum.errors import InvalidArgument, MissingColumn
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, laplace
from modicum.privacy.budget import pure
from modicum.privacy.event import Event
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum, Count

LATTICE = Lattice(-8.0, 8.0, 1.0)
DATA = [(), (1.0,), (1.0, 1.0)]
ONE = Fraction(1)


def query(begin: Callable[[Event], Steps[ScalarEstimate]]) -> Query[Release]:
    return Query("test", "leaky", None, LATTICE, pure(1), begin)


def counted() -> Steps[int]:
    summary = yield from read(Read(None, None, Count()))
    return summary.count


def honest(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    (noisy,) = yield from draw("count", laplace([n], l1=1, epsilon=ONE))
    return ScalarEstimate(Fraction(noisy), None, OK)


def leaky_need(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from read(Read(None, LATTICE, ClippedSum(0, n)))
    return (yield from honest(event))


def leaky_number_of_needs(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    if n > 1:
        yield from counted()
    return (yield from honest(event))


def leaky_label(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from draw(f"count of {n}", laplace([n], l1=1, epsilon=ONE))
    return ScalarEstimate(Fraction(0), None, OK)


def leaky_scale(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from draw("count", laplace([n], l1=n + 1, epsilon=ONE))
    return ScalarEstimate(Fraction(0), None, OK)


def leaky_cost(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from draw("count", laplace([n], l1=n + 1, epsilon=ONE / (n + 1)))
    return ScalarEstimate(Fraction(0), None, OK)


def leaky_number_of_draws(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    if n > 1:
        yield from draw("large", laplace([n], l1=2, epsilon=ONE))
    return ScalarEstimate(Fraction(0), None, OK)


def leaky_answer(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from draw("count", laplace([n], l1=1, epsilon=ONE))
    return ScalarEstimate(Fraction(n), None, OK)


def leaky_status(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    yield from draw("count", laplace([n], l1=1, epsilon=ONE))
    return ScalarEstimate(Fraction(0), None, Status("few_records", "too few") if n < 2 else OK)


def leaky_error(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    (noisy,) = yield from draw("count", laplace([n], l1=1, epsilon=ONE))
    return ScalarEstimate(Fraction(noisy, n), None, OK)


LEAKY = {
    leaky_need: "read",
    leaky_number_of_needs: "read",
    leaky_label: "draw",
    leaky_scale: "draw",
    leaky_cost: "draw",
    leaky_number_of_draws: "draw",
    leaky_answer: "answer",
    leaky_status: "answer",
    leaky_error: "error",
}


def test_an_honest_estimator_shows_nothing() -> None:
    assert audit.leaks(query(honest), DATA, [(7,)]) is None
    assert audit.check(query(honest)).passed


@pytest.mark.parametrize("begin", LEAKY)
def test_a_leak_is_found(begin) -> None:
    leak = audit.leaks(query(begin), DATA, [(7,)])
    assert leak is not None
    assert leak.kind == LEAKY[begin]
    assert leak.seen != leak.instead
    assert leak.path.data == ()
    assert f"{leak.kind} depends on data" in str(leak)


@pytest.mark.parametrize("begin", LEAKY)
def test_a_leak_fails_the_check(begin) -> None:
    report = audit.check(query(begin))
    assert not report.passed
    assert report.leak is not None
    assert report.leak.kind == LEAKY[begin]
    assert "LEAK" in str(report)


class FailsOnRecords(Additive):
    __slots__ = ()

    def log_density(self, outcome):
        if self.values[0]:
            raise ValueError("a record")
        return super().log_density(outcome)


def failing_mechanism(event: Event) -> Steps[ScalarEstimate]:
    n = yield from counted()
    noisy = laplace([n], l1=1, epsilon=ONE)
    (n,) = yield from draw("count", FailsOnRecords(noisy.values, noisy.noise, noisy.stated))
    return ScalarEstimate(Fraction(n), None, OK)


def test_a_mechanism_that_fails_on_some_data_is_a_leak() -> None:
    leak = audit.leaks(query(failing_mechanism), DATA, [(7,)])
    assert leak is not None
    assert leak.kind == "error"


def test_an_error_of_public_arguments_is_raised() -> None:
    def refused(event: Event) -> Steps[ScalarEstimate]:
        yield from counted()
        raise InvalidArgument("never")

    with pytest.raises(InvalidArgument, match="never"):
        audit.check(query(refused))


def test_columns_are_checked_first() -> None:
    with pytest.raises(MissingColumn):
        audit.leaks(ask.count("age", epsilon=1), [pl.DataFrame({"income": [1.0]})], [])


def test_nothing_to_run() -> None:
    with pytest.raises(InvalidArgument, match="at least one data set"):
        Family.of(query(honest), [])
