"""A curator with a ledger: charged before the draw, recorded before it is returned."""

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum import query as ask
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy, SystemEntropy
from modicum.privacy.ledger.book import Ledger
from modicum.statistics.registry import REGISTRY
from modicum.stored.codec import from_text

WITHIN = (-1e6, 1e6)


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame({"firm": ["a", "b", "b"] * 600, "wage": np.arange(1800.0)})


@pytest.fixture
def url(tmp_path) -> str:
    where = f"sqlite:///{tmp_path}/budget.db"
    Ledger.create(where).open_account("p", mo.approx(3, "1e-4"))
    return where


@pytest.fixture
def curator(table, url) -> mo.Curator:
    return mo.Curator(table, ledger=url, account="p")


def actions(url: str) -> list[str]:
    return [each.action for each in Ledger(url).entries("p")]


def test_a_release_is_charged_and_recorded(curator, url) -> None:
    release = curator.mean("wage", within=WITHIN, epsilon="0.5")
    assert release.account == "p: (ε, δ) = (0.5, 0) of (ε, δ) = (3, 0.0001) spent"
    assert actions(url) == ["create", "charge", "release"]
    assert from_text(Ledger(url).entries("p")[2].body) == {"answer": release}
    assert curator.remaining == mo.approx("2.5", "1e-4")
    assert curator.budget == mo.approx(3, "1e-4")


def test_two_curators_share_one_budget(curator, table, url) -> None:
    other = mo.Curator(table, ledger=Ledger(url), account="p")
    curator.count(epsilon=2)
    assert other.spent.amount == 2
    with pytest.raises(mo.BudgetExceeded, match="left in account 'p'; nothing was charged"):
        other.count(epsilon="1.5")
    other.count(epsilon=1)
    assert curator.remaining.amount == 0


class Watching(SystemEntropy):
    """Looks into the ledger at the first draw."""

    __slots__ = ("seen", "url")

    def __init__(self, url: str) -> None:
        self.url, self.seen = url, []

    def word(self) -> int:
        if not self.seen:
            self.seen = actions(self.url)
        return super().word()


def test_the_charge_is_on_the_disk_before_the_first_draw(table, url) -> None:
    watching = Watching(url)
    mo.Curator(table, ledger=url, account="p", entropy=watching).count(epsilon=1)
    assert watching.seen == ["create", "charge"]


def test_a_key_is_answered_once(curator, table, url) -> None:
    first = curator.idempotent("monday").mean("wage", within=WITHIN, epsilon=1)
    again = mo.Curator(table, ledger=url, account="p").idempotent("monday")
    assert again.mean("wage", within=WITHIN, epsilon=1) == first
    assert curator.spent.amount == 1
    with pytest.raises(mo.KeyReusedError, match="another query"):
        again.mean("wage", within=WITHIN, epsilon="0.5")
    for other in (
        lambda: again.mean("wage", within=WITHIN, epsilon=1, clusters="keep"),
        lambda: again.sum("wage", within=WITHIN, epsilon=1),
        lambda: again.mean("wage", within=(-1e7, 1e6), epsilon=1),
        lambda: again.quantile("wage", q="0.5", within=WITHIN, epsilon=1),
        lambda: again.release(mine=ask.mean("wage", within=WITHIN, epsilon=1)),
        lambda: again.group_by("firm", keys=["a"]).mean("wage", within=WITHIN, epsilon=1),
    ):
        with pytest.raises(mo.KeyReusedError):
            other()
    assert curator.spent.amount == 1


def test_an_answer_under_a_key_needs_no_data(curator, url) -> None:
    first = curator.idempotent("monday").count("wage", epsilon=3)
    empty = pd.DataFrame({"wage": [1.0]})
    assert mo.Curator(empty, ledger=url, account="p").idempotent("monday").count(
        "wage", epsilon=3
    ) == (first)


def test_a_charge_without_a_release_is_drawn_on_again(curator, table, url) -> None:
    class Broken(SeededEntropy):
        def word(self) -> int:
            raise RuntimeError("the power is gone")

    broken = mo.Curator(table, ledger=url, account="p", entropy=Broken("b")).idempotent("monday")
    with pytest.raises(RuntimeError, match="power"):
        broken.count(epsilon=3)
    assert curator.remaining.amount == 0
    with pytest.raises(mo.BudgetExceeded):
        curator.count(epsilon=3)
    assert curator.idempotent("monday").count(epsilon=3).account.startswith("p: (ε, δ) = (3, 0)")
    assert actions(url) == ["create", "charge", "release"]


def test_the_loser_of_a_race_returns_the_winners_release(curator, table, url, monkeypatch) -> None:
    slow = mo.Curator(table, ledger=url, account="p").idempotent("monday")
    answers = []
    record = Ledger.record

    def overtaken(self, charge, release):
        monkeypatch.undo()
        answers.append(curator.idempotent("monday").count(epsilon="0.001"))
        return record(self, charge, release)

    monkeypatch.setattr(Ledger, "record", overtaken)
    assert slow.count(epsilon="0.001") == answers[0]
    assert actions(url) == ["create", "charge", "release"]


def test_nothing_is_returned_that_could_not_be_recorded(curator, url, monkeypatch) -> None:
    def fails(self, charge, release):
        raise mo.LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "record", fails)
    with pytest.raises(mo.LedgerError, match=r"full; the charge stays, ask again with the key 'm'"):
        curator.idempotent("m").count(epsilon=1)
    with pytest.raises(mo.LedgerError, match=r"full; the charge stays$"):
        curator.count(epsilon=1)
    assert curator.spent.amount == 2


def test_together_is_one_charge(curator, url) -> None:
    asked = {"n": ask.count(epsilon="0.5"), "m": ask.median("wage", within=WITHIN, epsilon=1)}
    first = curator.idempotent("both").release(**asked)
    assert curator.idempotent("both").release(**asked) == first
    assert list(first) == ["n", "m"]
    assert actions(url) == ["create", "charge", "release"]
    assert curator.spent == mo.Budget("approx", mo.pure("1.5").amount)


def test_groups_are_one_charge_and_their_keys_another(curator, url) -> None:
    def answer() -> mo.GroupedRelease:
        groups = curator.idempotent("g").group_by("firm", key_budget=mo.approx(1, "1e-5"))
        return groups.count(epsilon=1)

    first = answer()
    assert answer() == first
    assert first.selection is not None
    assert first.account == "p: (ε, δ) = (2, 0.00001) of (ε, δ) = (3, 0.0001) spent"
    assert first["a"].account == first.account
    assert actions(url) == ["create", "charge", "release", "charge", "release"]
    keys = [each.key for each in Ledger(url).entries("p") if each.action == "charge"]
    assert keys == ["g (keys of firm)", "g"]


def test_several_numbers_are_paid_and_answered_once(curator, table, url) -> None:
    asked = {
        "quantiles": lambda who: who.quantiles("wage", q=[0.2, 0.5], within=WITHIN, epsilon=1),
        "histogram": lambda who: who.histogram("wage", edges=[0, 9, 2000], epsilon="0.5"),
        "cdf": lambda who: who.cdf("wage", points=[900], epsilon="0.25"),
    }
    for name, ask_it in asked.items():
        first = ask_it(curator.idempotent(name))
        assert isinstance(first, mo.ArrayRelease)
        assert first.account.endswith("of (ε, δ) = (3, 0.0001) spent")
        assert ask_it(mo.Curator(table, ledger=url, account="p").idempotent(name)) == first
    assert curator.spent == mo.Budget("approx", mo.pure("1.75").amount)
    assert actions(url) == ["create", *["charge", "release"] * 3]
    again = curator.idempotent("quantiles")
    for other in (
        lambda: again.quantiles("wage", q=[0.2, 0.6], within=WITHIN, epsilon=1),
        lambda: again.quantiles("wage", q=[0.2, 0.5], level=None, within=WITHIN, epsilon=1),
        lambda: curator.idempotent("histogram").histogram(
            "wage", edges=[0, 8, 2000], epsilon="0.5"
        ),
        lambda: curator.idempotent("cdf").cdf("wage", points=[901], epsilon="0.25"),
    ):
        with pytest.raises(mo.KeyReusedError):
            other()
    assert actions(url) == ["create", *["charge", "release"] * 3]


def test_groups_of_persons_and_their_drawn_keys_are_paid_once(url) -> None:
    table = pd.DataFrame(
        {"firm": ["a", "b", "b"] * 600, "wage": np.arange(1800.0), "id": np.arange(1800) // 3}
    )
    unit = mo.unit_of("id", combine="mean")
    Ledger(url).open_account("persons", mo.approx(9, "1e-4"), unit=unit)

    def answer(most: int, key_epsilon: int = 5) -> mo.GroupedRelease:
        curator = mo.Curator(table, ledger=url, account="persons").idempotent("g")
        keys = mo.approx(key_epsilon, "1e-5")
        groups = curator.group_by("firm", key_budget=keys, max_groups=most)
        return groups.std("wage", within=WITHIN, epsilon=1)

    first = answer(2)
    assert first.keys() == {"a", "b"}
    assert first.unit == unit.in_groups(2)
    assert answer(2) == first
    spent = Ledger(url).account("persons").spent
    assert spent == mo.Budget("approx", mo.pure(6).amount, mo.approx(1, "1e-5").delta)
    for most, key_epsilon in ((1, 5), (2, 4)):
        with pytest.raises(mo.KeyReusedError):
            answer(most, key_epsilon)
    assert Ledger(url).account("persons").spent == spent


def test_the_account_says_who_is_protected(table, url) -> None:
    person = mo.unit_of("firm", combine="mean")
    Ledger(url).open_account("firms", mo.pure(1), unit=person)
    release = mo.Curator(table, ledger=url, account="firms").mean("wage", within=WITHIN, epsilon=1)
    assert release.unit == person
    mo.Curator(table, unit=person, ledger=url, account="firms")
    with pytest.raises(InvalidArgument, match="account 'p' protects one row"):
        mo.Curator(table, unit=person, ledger=url, account="p")


def test_one_shots_charge_a_ledger_if_one_is_given(table, url) -> None:
    first = mo.count(table, "wage", epsilon=1, ledger=url, account="p", key="k")
    assert mo.count(table, "wage", epsilon=1, ledger=url, account="p", key="k") == first
    mo.median(table, "wage", within=WITHIN, epsilon=1, ledger=url, account="p")
    assert Ledger(url).account("p").spent.amount == 2
    assert mo.count(table, epsilon=1).account == "not counted against any budget"
    with pytest.raises(InvalidArgument, match="need ledger="):
        mo.count(table, epsilon=1, account="p")


def test_a_viewer_cannot_ask(table, url) -> None:
    viewer = mo.Curator(table, ledger=f"{url}?mode=ro", account="p")
    with pytest.raises(mo.AccessDeniedError, match="look only"):
        viewer.count(epsilon=1)
    assert viewer.spent.amount == 0


def test_wrong_arguments(table, url, tmp_path) -> None:
    for arguments, text in (
        ({}, "a budget is needed"),
        ({"ledger": url}, "name one with account="),
        ({"account": "p"}, "needs ledger="),
        ({"ledger": url, "account": "q"}, "no account 'q'"),
        ({"ledger": url, "account": "p", "budget": mo.pure(1)}, "not both"),
        ({"ledger": 3, "account": "p"}, "URL or a Ledger, got int"),
        ({"ledger": f"sqlite:///{tmp_path}/none.db", "account": "p"}, "there is no ledger"),
    ):
        with pytest.raises(InvalidArgument, match=text):
            mo.Curator(table, **arguments)
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(InvalidArgument, match="needs a ledger"):
        mo.Curator(table, budget=mo.pure(1)).idempotent("k")
    for key in ("", 3, "a\nb"):
        with pytest.raises(InvalidArgument, match="a key must be"):
            mo.Curator(table, ledger=url, account="p").idempotent(key)


def test_a_wrong_question_charges_nothing(curator, url) -> None:
    with pytest.raises(mo.MissingColumn):
        curator.idempotent("k").mean("salary", within=WITHIN, epsilon=1)
    with pytest.raises(InvalidArgument, match="zCDP"):
        curator.count(rho=1)
    assert actions(url) == ["create"]


def test_it_shows_its_account_and_no_password(curator, url) -> None:
    assert repr(curator) == f"Curator(pandas data, unit=one row, account 'p' of {url})"


OPTIONS_IN_LEDGERS = {
    "cdf": "CutsOption(cuts=(5.0, 6.0))",
    "count": "NoOption()",
    "expectile": "LocationOption(statistic=Score(name='expectile(0.9)', growth=1, width=None, "
    "homogeneous=True, bends=((0.0, 1),)), level=0.95)",
    "histogram": "CutsOption(cuts=(5.0, 6.0, 8.0))",
    "iqr": "RangeOption(between=(Fraction(1, 4), Fraction(3, 4)), level=0.95)",
    "mean": "ClusterOption(clusters='clip')",
    "pca": "ComponentsOption(components=1)",
    "quantile": "QuantileOption(q=Fraction(9, 10), level=0.95)",
    "quantiles": "QuantilesOption(qs=(Fraction(1, 2),), level=0.95, fine=1)",
    "trimmed_mean": "TrimOption(trim=Fraction(1, 10), level=0.95)",
    "vector_statistic": "OwnVectorOption(statistic=MeanOfRange('mean'))",
}


@pytest.mark.parametrize("statistic", OPTIONS_IN_LEDGERS)
def test_options_are_written_as_they_were(statistic) -> None:
    """A ledger knows a query again by this text: an option that is renamed loses its releases."""
    row = next(row for row in REGISTRY if row.statistic == statistic)
    assert repr(row.options[0]) == OPTIONS_IN_LEDGERS[statistic]


OF_SAMPLES = {
    "linear_regression": "OfPopulation()",
    "mean": "SampleOption(clusters='clip')",
    "median": "SampleQuantileOption(q=Fraction(1, 2), level=0.95)",
    "quantiles": "SampleQuantilesOption(qs=(Fraction(1, 4), Fraction(3, 5)), level=0.95, fine=0)",
}


@pytest.mark.parametrize("statistic", OF_SAMPLES)
def test_options_of_samples_are_written_as_they_were(statistic) -> None:
    rows = [row for row in REGISTRY if row.statistic == statistic]
    assert OF_SAMPLES[statistic] in {repr(option) for row in rows for option in row.options}


def test_every_kind_of_option_has_its_text_in_ledgers() -> None:
    kinds = {repr(option).partition("(")[0] for row in REGISTRY for option in row.options}
    texts = [*OPTIONS_IN_LEDGERS.values(), *OF_SAMPLES.values()]
    known = {text.partition("(")[0] for text in texts}
    assert kinds == {*known, "BinsOption"}
