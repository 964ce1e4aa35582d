"""The curator charges once, before any draw, and never more than it has."""

import copy
import dataclasses
import inspect
import json
import multiprocessing
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.accountant import total

WITHIN = (-1e9, 1e9)


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(0).lognormal(10, 1, 20_000)


def curator_of(data, budget=None, **more) -> mo.Curator:
    return mo.Curator(
        data,
        budget=budget if budget is not None else mo.pure(3),
        entropy=SeededEntropy("c"),
        **more,
    )


def test_it_charges_the_whole_cost_once(data) -> None:
    curator = curator_of(data)
    release = curator.mean(within=WITHIN, epsilon="0.7")
    assert curator.spent == mo.pure("0.7")
    assert curator.remaining == mo.pure("2.3")
    assert release.account == "ε = 0.7 of ε = 3 spent"
    assert release.value == pytest.approx(data.mean(), rel=0.05)


def test_it_refuses_to_overspend_and_charges_nothing(data) -> None:
    curator = curator_of(data, mo.pure(1))
    curator.count(epsilon="0.9")
    with pytest.raises(mo.BudgetExceeded, match=r"costs ε = 0\.2, but only ε = 0\.1"):
        curator.mean(within=WITHIN, epsilon="0.2")
    assert curator.spent == mo.pure("0.9")
    curator.count(epsilon="0.1")
    assert curator.remaining.amount == 0


@pytest.mark.parametrize("cost", [{"epsilon": "0.3"}, {"rho": "0.3"}, {"budget": mo.zcdp("0.3")}])
def test_a_zcdp_account_takes_pure_and_zcdp_releases(data, cost) -> None:
    curator = curator_of(data, mo.zcdp(1))
    release = curator.sum(within=WITHIN, **cost)
    expected = Fraction(9, 200) if "epsilon" in cost else Fraction(3, 10)
    assert curator.spent.amount == expected
    kind = release.event.kind
    assert total([e.event for e in release.transcript], kind) == release.event.cost(kind)


def test_a_pure_account_refuses_zcdp_and_an_approximate_one_takes_pure(data) -> None:
    with pytest.raises(mo.InvalidArgument, match="zCDP"):
        curator_of(data).mean(within=WITHIN, rho=1)
    curator = curator_of(data, mo.approx(1, "1e-6"))
    curator.mean(within=WITHIN, budget=mo.approx("0.5", "1e-6"))
    assert (curator.spent.amount, curator.spent.delta) == (Fraction(1, 2), 0)


def test_together_answers_all_in_the_passes_of_one(data) -> None:
    table = {"income": data, "age": np.arange(len(data)) % 90}
    pandas = pytest.importorskip("pandas")
    curator = curator_of(pandas.DataFrame(table))
    releases = curator.release(
        income=mo.query.mean("income", within=WITHIN, epsilon=1),
        age=mo.query.mean("age", within=(0, 150), epsilon=1),
        rows=mo.query.count(epsilon="0.5"),
    )
    assert list(releases) == ["income", "age", "rows"]
    assert curator.spent == mo.pure("2.5")
    assert float(releases["age"]) == pytest.approx(44.5, rel=0.02)
    assert float(releases["rows"]) == pytest.approx(20_000, abs=50)
    with pytest.raises(mo.BudgetExceeded):
        curator.release(one=mo.query.count(epsilon="0.4"), two=mo.query.count(epsilon="0.4"))
    assert curator.spent == mo.pure("2.5")
    with pytest.raises(mo.InvalidArgument, match="at least one"):
        curator.release()
    with pytest.raises(mo.InvalidArgument, match=r"modicum\.query"):
        curator.release(wrong=3)


def test_the_unit_shrinks_what_a_row_may_cost(data) -> None:
    curator = curator_of(data, unit=mo.unit_of(rows=4))
    release = curator.count(epsilon=1)
    assert sum(e.event.epsilon for e in release.transcript) == Fraction(1, 4)
    assert curator.spent == mo.pure(1)
    assert "at most 4 rows" in str(release)
    spread = [abs(float(curator_of(data, unit=mo.unit_of(rows=50)).count(epsilon=1)) - 20_000)]
    assert max(spread) < 2000


def test_threads_cannot_overspend(data) -> None:
    curator = curator_of(data[:500], mo.pure(2))
    outcomes: list[str] = []

    def ask() -> None:
        try:
            curator.count(epsilon="0.25")
            outcomes.append("released")
        except mo.BudgetExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("released") == 8
    assert curator.remaining.amount == 0


def test_it_refuses_pickle_and_copy(data) -> None:
    curator = curator_of(data)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            attempt(curator)
    assert str(data[0]) not in repr(curator)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_it_refuses_a_forked_child(data) -> None:
    curator = curator_of(data[:100])
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child() -> None:
        try:
            curator.count(epsilon=1)
            queue.put("released")
        except mo.InvalidArgument as error:
            queue.put(str(error))

    process = context.Process(target=child)
    process.start()
    message = queue.get(timeout=60)
    process.join()
    assert "a Curator cannot be used in a forked process" in message
    curator.count(epsilon=1)


def test_one_shots_say_that_nothing_was_counted(data) -> None:
    release = mo.mean(data, within=WITHIN, epsilon=1)
    assert release.account == "not counted against any budget"
    assert release.private
    assert not curator_of(data).count(epsilon=1).private
    assert json.loads(release.to_json())["private"] is True


def test_the_signatures_and_documents_are_those_of_the_questions() -> None:
    question = inspect.signature(mo.query.mean)
    for function, first in ((mo.mean, "table"), (mo.Curator.mean, "self")):
        names = list(inspect.signature(function).parameters)
        more = ["where", "unit", "ledger", "account", "key"] if first == "table" else []
        assert names == [first, *question.parameters, *more]
        assert function.__doc__.startswith("Release the mean")


def test_one_shots_say_who_is_protected(data) -> None:
    release = mo.mean(data, within=WITHIN, epsilon=1, unit=mo.unit_of(rows=2))
    assert release.unit == mo.unit_of(rows=2)
    assert sum(entry.event.epsilon for entry in release.transcript) == Fraction(1, 2)
    for function in (mo.mean, mo.sum, mo.count):
        assert "mo" in function.__module__
        assert "unit" in function.__doc__
    with pytest.raises(mo.InvalidArgument, match="unit_of"):
        mo.count(data, epsilon=1, unit=3)


def test_a_negative_cost_is_no_refund(data) -> None:
    curator = curator_of(data)
    curator.count(epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="at least 0"):
        mo.pure(1) - mo.pure(4)
    negative = mo.pure(3)
    object.__setattr__(negative, "amount", Fraction(-3))  # past every check
    crafted = dataclasses.replace(mo.query.count(epsilon=1), budget=negative)
    with pytest.raises(mo.InvalidArgument, match="positive"):
        curator.run(crafted)
    assert curator.spent == mo.pure(1)
    with pytest.raises(mo.InvalidArgument, match="positive"):
        mo.Curator(data, budget=negative)


def test_a_unit_made_by_hand_is_checked() -> None:
    for rows in (0, -1, Fraction(1, 4)):
        with pytest.raises(mo.InvalidArgument, match="rows"):
            mo.Unit(rows)


def test_bounds_get_the_hint(data) -> None:
    with pytest.raises(mo.InvalidArgument, match="within="):
        mo.mean(data, bounds=(0, 1), epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="within="):
        curator_of(data).sum(bounds=(0, 1), epsilon=1)
