"""Questions for every group, as a user asks them."""

import gc
import json
import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum import query as ask
from modicum.api.group_by import GroupBy
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.accountant import total
from modicum.privacy.event import ApproxDP
from modicum.stored.codec import from_text, to_text
from tests.sources.cluster.test_distributed import Cluster

WITHIN = (-1e9, 1e9)
RNG = np.random.default_rng(1)
SIZE = 12_000
TABLE = pd.DataFrame(
    {
        "firm": pd.Series(RNG.choice(["a", "b", "c"], SIZE, p=[0.7, 0.2995, 0.0005]), dtype=object),
        "wage": RNG.lognormal(10, 0.5, SIZE),
        "size": RNG.integers(0, 4, SIZE),
        "who": np.arange(SIZE) // 3,
    }
)
TABLE.loc[5, "firm"] = None


def curator(table=TABLE, budget=None, **more) -> mo.Curator:
    return mo.Curator(
        table, budget=budget or mo.approx(10, "1e-5"), entropy=SeededEntropy("by"), **more
    )


def test_all_groups_cost_what_one_costs() -> None:
    guarded = curator(budget=mo.pure(3))
    wages = guarded.group_by("firm", keys=["b", "never", "a"]).mean(
        "wage", within=WITHIN, epsilon=1
    )
    assert guarded.spent == mo.pure(1)
    assert list(wages) == ["b", "never", "a"]
    assert len(wages) == 3
    for key in "ab":
        truth = TABLE.wage[TABLE.firm == key].mean()
        assert wages[key].value == pytest.approx(truth, rel=0.1)
        assert total([entry.event for entry in wages[key].transcript], "pure") == mo.pure(1)
    assert wages["never"].status != "ok"


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(enabled) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        by_firm = curator(budget=mo.pure(1)).group_by("firm", keys=["a"])
        by_firm.count(epsilon=1)
        assert gc.isenabled() is enabled
        with pytest.raises(mo.BudgetExceeded):
            by_firm.count(epsilon=1)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_what_many_groups_hold_has_no_cycles() -> None:
    by_person = curator(budget=mo.pure(1)).group_by("who", keys=range(300))
    gc.collect()
    found = by_person.mean("wage", within=WITHIN, epsilon=1)
    gc.collect()
    before = len(gc.get_objects())
    assert len(found) == 300
    del found
    assert before - len(gc.get_objects()) > 300 * 10  # gone without a collection


def test_together_is_charged_once_for_all_groups_and_questions() -> None:
    guarded = curator(budget=mo.zcdp(2))
    both = guarded.group_by("size", keys=range(4)).release(
        n=mo.query.count(rho="0.5"), total=mo.query.sum("wage", within=(0, 1e9), rho=1)
    )
    assert guarded.spent == mo.zcdp("1.5")
    assert list(both) == ["n", "total"]
    assert [round(each.value, -3) for each in both["n"].values()] == [3000.0] * 4
    truth = TABLE.wage[TABLE["size"] == 2].sum()
    assert both["total"][2].value == pytest.approx(truth, rel=0.05)


@pytest.mark.parametrize("statistic", ["count", "mean", "sum", "std", "var", "iqr", "max", "min"])
@pytest.mark.parametrize("key", ["a", "b", "c", "never"])
def test_a_group_is_released_as_a_filtered_table(statistic, key) -> None:
    """With the same entropy, of less than 2^13 rows, whose order does not matter then."""
    options = {"epsilon": 1} if statistic == "count" else {"epsilon": 1, "within": WITHIN}
    table = TABLE[:9000]
    grouped = curator(table).group_by("firm", keys=[key])
    alone = curator(table[table.firm == key])
    one = getattr(grouped, statistic)("wage", **options)[key]
    other = getattr(alone, statistic)("wage", **options)
    assert (one.value, one.transcript, one.status) == (other.value, other.transcript, other.status)


def test_keys_are_drawn_for_epsilon_and_delta() -> None:
    guarded = curator()
    groups = guarded.group_by("firm", key_budget=mo.approx("0.5", "1e-6"))
    assert groups.keys == ("a", "b")  # 6 rows have the key c
    assert guarded.spent == mo.approx("0.5", "1e-6")
    assert groups.selection.event == ApproxDP(*_half())
    counts = groups.count(epsilon=1)
    assert guarded.spent == mo.approx("1.5", "1e-6")
    assert counts.selection == groups.selection
    assert "keys     drawn, for (ε, δ) = (0.5, 0.000001)" in str(counts)
    assert "KeySelection" in counts.explain()


def _half():
    budget = mo.approx("0.5", "1e-6")
    return budget.amount, budget.delta


def test_no_key_may_be_kept() -> None:
    table = pd.DataFrame({"k": [1, 2, 3], "x": [1.0, 2.0, 3.0]})
    groups = curator(table).group_by("k", key_budget=mo.approx("0.1", "1e-9"))
    assert groups.keys == ()
    release = groups.mean("x", within=(0, 9), epsilon=1)
    assert len(release) == 0
    assert list(release.frame().columns) == ["key", "value", "lower", "upper", "usable"]
    assert str(release).startswith("mean of x by k: 0 groups\n")
    assert release.usable
    assert json.loads(release.to_json())["groups"] == []


def test_a_person_with_several_rows() -> None:
    for unit in (mo.unit_of(rows=3), mo.unit_of("who", max_rows=3)):
        guarded = curator(unit=unit)
        groups = guarded.group_by("firm", key_budget=mo.approx(1, "1e-6"))
        assert guarded.spent == mo.approx(1, "1e-6")
        parameters = groups.selection.parameters
        assert parameters["epsilon"] == "1/3"
        release = groups.count(epsilon=1)
        assert guarded.spent == mo.approx(2, "1e-6")
        assert {str(e.event) for e in release["a"].transcript} == {"ε = 1/3"}


REFUSED = {
    "empty": ({"keys": []}, "keys is empty"),
    "twice": ({"keys": ["a", "b", "a"]}, r"several \['a'\]"),
    "a text": ({"keys": "ab"}, "must be a list"),
    "another column's": ({"keys": {"size": ["a"]}}, r"keys=\{'firm': \['a', 'b'\]\}"),
    "numbers of labels": ({"keys": {"a": 1, "b": 2}}, r"keys=list\(mapping\)"),
    "a mapping of a text": ({"keys": {"firm": "ab"}}, "must be a list"),
    "a mapping of a mapping": ({"keys": {"firm": {"a": 1}}}, "must be a list"),
    "counts of labels": (
        {"keys": pd.Series(["a", "b", "a"]).value_counts()},
        r"list\(series.index\)",
    ),
    "a table": ({"keys": pd.DataFrame({"firm": ["a"]})}, "got a DataFrame, which is a table"),
    "no labels": ({"keys": [None]}, "can be no label"),
    "a list": ({"keys": [["a"]]}, "can be no label"),
    "nan": ({"keys": [float("nan")]}, "can be no label"),
    "neither": ({}, "either keys"),
    "both": ({"keys": ["a"], "key_budget": mo.approx(1, "1e-6")}, "either keys"),
    "pure": ({"key_budget": mo.pure(1)}, "must be modicum.approx"),
    "number": ({"key_budget": 1}, "must be modicum.approx"),
}


def test_a_mapping_for_one_column_has_its_list() -> None:
    guarded = curator()
    mapped, listed = ({"firm": ["b", "a"]}, ["b", "a"])
    assert guarded.group_by("firm", keys=mapped).keys == tuple(listed)
    assert guarded.crosstab("firm", keys=mapped, epsilon=1).keys == tuple(listed)
    assert {*guarded.value_counts("firm", keys=mapped, epsilon=1).keys} == {*listed}
    spent = guarded.spent
    for wrong in ({"size": ["a"]}, {"a": 1, "b": 2}):
        for question in (guarded.crosstab, guarded.value_counts):
            with pytest.raises(mo.InvalidArgument, match="under the name of the column"):
                question("firm", keys=wrong, epsilon=1)
    assert guarded.spent == spent


@pytest.mark.parametrize("name", REFUSED)
def test_keys_that_are_refused_cost_nothing(name) -> None:
    options, text = REFUSED[name]
    guarded = curator()
    with pytest.raises(mo.InvalidArgument, match=text):
        guarded.group_by("firm", **options)
    assert guarded.spent.amount == 0


@pytest.mark.parametrize(
    ("by", "keys", "text"),
    [
        ("size", ["a"], "holds numbers, so no row has the key 'a'"),
        ("size", [1, True], "different"),
        ("size", [1, 1.0], "different"),
        ("firm", [5, "5"], "different"),
        (3, ["a"], "must be a column name"),
    ],
)
def test_keys_that_do_not_fit_the_column(by, keys, text) -> None:
    with pytest.raises(mo.InvalidArgument, match=text):
        curator().group_by(by, keys=keys)


def test_columns_are_checked_before_anything_is_charged() -> None:
    guarded = curator()
    with pytest.raises(mo.MissingColumn, match="no column 'town'"):
        guarded.group_by("town", keys=["a"])
    groups = guarded.group_by("firm", keys=["a"])
    with pytest.raises(mo.MissingColumn, match="no column 'pay'"):
        groups.mean("pay", within=WITHIN, epsilon=1)
    with pytest.raises(mo.UnsupportedData):
        groups.mean("firm", within=WITHIN, epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="within="):
        groups.mean("wage", bounds=(0, 1), epsilon=1)
    with pytest.raises(mo.BudgetExceeded):
        groups.count(epsilon=11)
    with pytest.raises(mo.InvalidArgument, match="at least one"):
        groups.release()
    with pytest.raises(mo.BudgetExceeded):
        guarded.group_by("firm", key_budget=mo.approx(1, "1e-4"))
    assert guarded.spent.amount == 0


@pytest.mark.parametrize("budget", [mo.pure(3), mo.zcdp(3)])
def test_a_budget_without_a_delta_draws_no_keys(budget) -> None:
    guarded = curator(budget=budget)
    with pytest.raises(mo.InvalidArgument, match="needs a δ"):
        guarded.group_by("firm", key_budget=mo.approx(1, "1e-6"))
    assert guarded.spent.amount == 0


@pytest.mark.parametrize(
    ("unit", "by", "most", "text"),
    [
        (mo.unit_of("who", combine="mean"), "firm", None, "max_groups=1"),
        (mo.unit_of("who", max_rows=2), "firm", 2, "a unit that names persons"),
        (None, "firm", 1, "a unit that names persons"),
        (mo.unit_of("who", combine="sum"), "firm", 0, "positive integer"),
        (mo.unit_of("who", combine="sum"), "firm", True, "positive integer"),
        (mo.unit_of("who", combine="sum"), "firm", "2", "positive integer"),
        (mo.unit_of("firm", max_rows=3), "firm", None, "says whose a row is"),
        (mo.unit_of("firm", combine="mean"), "firm", 1, "says whose a row is"),
        (mo.unit_of("who", max_rows=3, order_by="day"), "day", None, "already orders"),
    ],
)
def test_units_that_cannot_be_grouped(unit, by, most, text) -> None:
    table = TABLE.assign(day=pd.Timestamp("2024-01-02"))
    guarded = curator(table, unit=unit)
    with pytest.raises(mo.InvalidArgument, match=text):
        guarded.group_by(by, keys=["a"], max_groups=most)
    assert guarded.spent.amount == 0


def test_rows_may_be_ordered_by_the_number_they_are_grouped_by() -> None:
    """Everybody's first row is in the group 0 or 1."""
    table = pd.DataFrame({"who": np.repeat(range(1000), 2), "year": [1, 2] * 500 + [0, 1] * 500})
    unit = mo.unit_of("who", max_rows=1, order_by="year")
    counts = curator(table, unit=unit).group_by("year", keys=[0, 1, 2]).count(epsilon=2)
    assert [round(each.value, -2) for each in counts.values()] == [500, 500, 0]


def test_a_person_has_one_combined_record_in_each_of_a_few_groups() -> None:
    """Every person has three rows in up to three groups."""
    unit = mo.unit_of("who", combine="mean")
    means = TABLE.dropna().groupby(["firm", "who"]).wage.mean()
    for most, share in ((1, "1"), (2, "0.5"), (3, "0.5")):
        guarded = curator(unit=unit)
        groups = guarded.group_by("firm", keys=["a", "b"], max_groups=most)
        both = groups.release(
            n=mo.query.count(epsilon=1), wage=mo.query.mean("wage", within=WITHIN, epsilon=1)
        )
        assert guarded.spent.amount == 2
        assert {str(e.event) for e in both["n"]["a"].transcript} == {f"ε = {share}"}
        counts = [both["n"][key].value for key in "ab"]
        if most > 1:
            assert counts == pytest.approx([len(means[key]) for key in "ab"], abs=30)
        else:
            assert sum(counts) == pytest.approx(4000, abs=30)
        for key in "ab":
            assert both["wage"][key].value == pytest.approx(means[key].mean(), rel=0.05)
    assert "with the mean of their rows in each of at most 2 groups, all" in " ".join(
        str(both["n"]).split()
    )


def test_keys_of_persons_with_combined_rows_are_drawn() -> None:
    guarded = curator(unit=mo.unit_of("who", combine="sum"))
    groups = guarded.group_by("firm", key_budget=mo.approx(1, "1e-6"), max_groups=2)
    assert groups.keys == ("a", "b")
    assert groups.selection.parameters["epsilon"] == "1/2"
    assert groups.selection.parameters["delta"] == "1/2000000"
    assert guarded.spent == mo.approx(1, "1e-6")


def test_zcdp_of_a_person_in_several_groups_adds_up() -> None:
    groups = curator(unit=mo.unit_of("who", combine="sum"), budget=mo.zcdp(2)).group_by(
        "firm", keys=["a", "b", "c"], max_groups=3
    )
    release = groups.sum("wage", within=(0, 1e6), rho=1)
    assert total([entry.event for entry in release["a"].transcript], "zcdp") == mo.zcdp("1/3")


@pytest.mark.parametrize("few", [64, 0], ids=["few", "many"])
def test_quantiles_of_groups(few, monkeypatch) -> None:
    monkeypatch.setattr("modicum.sources.groups._FEW", few)
    groups = curator().group_by("firm", keys=["b", "a", "never"])
    for q, release in (
        (0.5, groups.median("wage", within=WITHIN, epsilon=1)),
        (0.9, groups.quantile("wage", q=0.9, within=WITHIN, epsilon=1)),
    ):
        for key in "ab":
            truth = TABLE.wage[TABLE.firm == key].quantile(q)
            assert release[key].value == pytest.approx(truth, rel=0.02)
            lower, upper = release[key].interval()
            assert lower <= truth <= upper
        assert release["never"].status != "ok"


FRAMES = {
    pd.DataFrame: lambda: TABLE,
    pl.DataFrame: lambda: pl.from_pandas(TABLE),
    pa.Table: lambda: duckdb.sql("select * from TABLE"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_the_users_own_library(kind) -> None:
    table = pa.Table.from_pandas(TABLE) if kind is pa.Table else FRAMES[kind]()
    frame = curator(table).group_by("firm", keys=["b", "a"]).count(epsilon=1).frame()
    assert isinstance(frame, kind)
    columns = frame.column_names if kind is pa.Table else list(frame.columns)
    assert columns == ["key", "value", "lower", "upper", "usable"]


def test_a_file_gives_a_list_of_rows(tmp_path) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    rows = curator(tmp_path / "t.csv").group_by("size", keys=[1, 2]).count(epsilon=1).frame()
    assert [row["key"] for row in rows] == [1, 2]
    assert all(row["lower"] <= row["value"] <= row["upper"] for row in rows)


def test_the_card_the_json_and_the_repr() -> None:
    release = curator().group_by("firm", keys=["a", "never"]).mean("wage", within=WITHIN, epsilon=1)
    lines = str(release).splitlines()
    assert lines[0] == "mean of wage by firm: 2 groups, 1 without a usable answer"
    assert lines[1].split()[:2] == ["key", "value"]
    assert "ε = 1 for one row, all groups together (add-remove; swap: ε = 2)" in str(release)
    assert "never: too little data" in str(release)
    assert "not private" in str(release)
    assert "90 % interval" in release.summary(level=0.9)
    assert repr(release) == "GroupedRelease(mean of 'wage' by 'firm', 2 groups)"
    assert release._repr_html_().startswith("<div><p style='margin:.2em 0'><strong>mean of wage")
    record = json.loads(release.to_json())
    assert record["schema"] == "modicum.grouped/3"
    assert [group["key"] for group in record["groups"]] == ["a", "never"]
    assert record["groups"][0]["release"]["value"] == release["a"].value
    assert release.explain().count("Every draw, in order") == 2
    assert pickle.loads(pickle.dumps(release)) == release


def test_many_groups_are_cut_on_the_card() -> None:
    table = pd.DataFrame({"k": np.arange(3000) % 100})
    release = curator(table).group_by("k", keys=range(100)).count(epsilon=1)
    assert "and 70 more: frame() has all" in str(release)
    assert len(release.frame()) == 100
    assert max(abs(each.value - 30) for each in release.values()) < 20


def test_group_by_shows_no_data_and_names_its_methods() -> None:
    groups = curator().group_by("firm", keys=["a"])
    assert repr(groups) == "GroupBy('firm', 1 keys)"
    assert GroupBy.mean.__qualname__ == "GroupBy.mean"
    assert "GroupedRelease" in GroupBy.mean.__doc__


# Keys of several columns.

YEARS = [2024, 2025]
SALES = pd.DataFrame(
    {
        "region": ["N", "S", "N", None, "S", "N"] * 500,
        "year": [2024, 2025, 2025, 2024, 2025, 2024] * 500,
        "day": pd.to_datetime(["2024-01-01", "2025-01-01"] * 1500),
        "x": np.arange(3000.0),
        "p": np.arange(3000) // 6,
    }
)
COUNTS = {("N", 2024): 1000, ("N", 2025): 500, ("S", 2025): 1000}


@pytest.fixture(params=["pandas", "csv", "parts"])
def sales(request, tmp_path) -> mo.Curator:
    table = SALES
    if request.param == "csv":
        table = tmp_path / "sales.csv"
        SALES.to_csv(table, index=False)
    elif request.param == "parts":
        arrow = pa.Table.from_pandas(SALES)
        table = Cluster([arrow.slice(start, 700) for start in range(0, 3000, 700)])
    return mo.Curator(table, budget=mo.approx(2000, "1e-5"), entropy=SeededEntropy("sales"))


def test_keys_of_several_columns(sales) -> None:
    product = sales.group_by("region", "year", keys={"year": YEARS, "region": ["N", "S", "W"]})
    assert product.by == ("region", "year")
    assert product.keys == tuple((r, y) for r in ("N", "S", "W") for y in YEARS)
    counts = product.count(epsilon=200)
    assert {key: each.value for key, each in counts.items() if each.value} == COUNTS
    pairs = sales.group_by("year", "region", keys=[(2025, "S"), [2024, "N"]])
    sums = pairs.sum("x", within=(0, 4000), epsilon=200)
    for (year, region), each in sums.items():
        true = SALES[(SALES.region == region) & (SALES.year == year)].x.sum()
        assert each.value == pytest.approx(true, rel=0.01)
    drawn = sales.group_by("region", "year", key_budget=mo.approx(50, "1e-7"))
    texts = {(region, str(year)): n for (region, year), n in COUNTS.items()}  # of a CSV file
    assert set(drawn.keys) in ({*COUNTS}, {*texts})
    assert [each.value for each in drawn.count(epsilon=200).values()] == [1000, 500, 1000]
    chosen = sales.where("x < 600").group_by("region", "year", keys=[("N", 2024)])
    assert chosen.count(epsilon=200)["N", 2024].value == 200


def test_a_table_of_keys_of_several_columns_names_them() -> None:
    curator = mo.Curator(SALES, budget=mo.pure(1000))
    found = curator.group_by("region", "year", keys=[("N", 2024), ("S", 2025)]).count(epsilon=200)
    frame = found.frame()
    assert list(frame.columns) == ["region", "year", "value", "lower", "upper", "usable"]
    assert frame["year"].tolist() == YEARS
    assert "count of rows by region, year: 2 groups" in str(found)
    assert "(N, 2024)" in str(found)
    assert "region, year = (N, 2024)" in found.explain()
    stored = json.loads(found.to_json())
    assert (stored["by"], stored["groups"][0]["key"]) == (["region", "year"], ["N", 2024])
    assert from_text(to_text(found)) == found


def test_persons_in_groups_of_several_columns() -> None:
    """A person has rows in three of the groups."""
    person = mo.unit_of("p")
    curator = mo.Curator(SALES, budget=mo.approx(1000, "1e-6"), unit=person)
    given = curator.group_by("region", "year", keys=[*COUNTS], max_groups=3).count(epsilon=300)
    assert [each.value for each in given.values()] == pytest.approx([1000, 500, 1000], abs=5)
    drawn = curator.group_by("region", "year", key_budget=mo.approx(100, "1e-7"), max_groups=3)
    assert drawn.keys == tuple(COUNTS)


@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        (("region", "year"), {"keys": [("N", 2024, 1)]}, "a tuple of 2 labels"),
        (("region", "year"), {"keys": ["N"]}, "a tuple of 2 labels"),
        (("region", "year"), {"keys": {"region": ["N"]}}, "a list for each"),
        (("region", "year"), {"keys": {"region": ["N"], "year": []}}, "keys is empty"),
        (("region", "year"), {"keys": [("N", "2024")]}, "'year' holds numbers"),
        (("region", "year"), {"keys": [("N", 2024), ("N", 2024.0)]}, "must be different"),
        (("region", "region"), {"keys": [("N", "N")]}, "must be different"),
        (("region", 5), {"keys": [("N", 2024)]}, "column name"),
        (("region", "yeer"), {"keys": [("N", 2024)]}, "did you mean 'year'"),
        (("region", "p"), {"keys": [("N", 2024)]}, "says whose a row is"),
        (("region", "year"), {}, "give either"),
    ],
)
def test_bad_keys_of_several_columns(columns, options, told) -> None:
    curator = mo.Curator(SALES, budget=mo.pure(1), unit=mo.unit_of("p"))
    with pytest.raises(mo.ModicumError, match=told):
        curator.group_by(*columns, **options)


def test_the_keys_of_a_query_belong_to_its_columns(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("sales", mo.pure(10))
    curator = mo.Curator(SALES, ledger=url, account="sales").idempotent("Monday")
    one = curator.group_by("region", "year", keys=[("N", 2024)]).count(epsilon=1)
    assert one == curator.group_by("region", "year", keys=[("N", 2024)]).count(epsilon=1)
    with pytest.raises(mo.KeyReusedError):
        curator.group_by("year", "region", keys=[(2024, "N")]).count(epsilon=1)


# Several numbers of each group.

ASKED = {
    "quantiles": (
        ask.quantiles("x", q=[0.25, 0.75], epsilon=100),
        lambda x: np.quantile(x, [0.25, 0.75]),
    ),
    "histogram": (
        ask.histogram("x", edges=[0, 1000, 3000], epsilon=100),
        lambda x: np.histogram(x, [0, 1000, 3000])[0],
    ),
    "drawn": (ask.histogram("x", bins=2, epsilon=100), lambda x: [len(x) / 2] * 2),
    "cdf": (ask.cdf("x", points=[500], epsilon=100), lambda x: [(x <= 500).mean()]),
}


@pytest.mark.parametrize("name", ASKED)
def test_several_numbers_of_each_group(sales, name) -> None:
    query, truth = ASKED[name]
    found = sales.group_by("region", keys=["N", "S", "W"]).run(query)
    assert isinstance(found, mo.GroupedArrayRelease)
    for key in ("N", "S"):
        expected = truth(SALES[SALES.region == key].x.to_numpy())
        assert found[key].values == pytest.approx(expected, rel=0.05, abs=5)
    assert not found["N"].unit.whole
    assert found["N"].event == found.event


def test_many_groups_and_persons_have_several_numbers() -> None:
    table = pd.DataFrame(
        {"g": np.arange(30_000) % 100, "x": np.arange(30_000.0), "p": range(30_000)}
    )
    for unit in (None, mo.unit_of("p", max_rows=1)):
        guarded = mo.Curator(table, budget=mo.pure(200), unit=unit)
        found = guarded.group_by("g", keys=range(100)).quantiles("x", q=[0.5], epsilon=100)
        middles = [release.values[0] for release in found.values()]
        assert middles == pytest.approx([15_000] * 100, rel=0.05)
        assert "and 70 more: frame() has all" in str(found)
        assert len(found.frame()) == 100


@pytest.mark.parametrize("name", ["var", "max", "median", "huber"])
def test_many_groups_find_windows(name) -> None:
    """Of more than 64 groups the records are collected, as they are where no range is known."""
    table = pd.DataFrame({"g": np.arange(24_000) % 80, "x": np.arange(24_000.0)})
    groups = mo.Curator(table, budget=mo.pure(200)).group_by("g", keys=range(80))
    more = {"width": 1e4} if name == "huber" else {}
    found = getattr(groups, name)("x", epsilon=100, **more)
    truth = {"var": 24_000**2 / 12, "max": 24_000, "median": 12_000, "huber": 12_000}[name]
    values = [release.value for release in found.values()]
    assert values == pytest.approx([truth] * 80, rel=0.4)


def test_several_numbers_are_shown_stored_and_told() -> None:
    guarded = mo.Curator(SALES, budget=mo.pure(1000))
    groups = guarded.group_by("region", "year", keys=[("N", 2024), ("S", 2025)])
    found = groups.histogram("x", edges=[0, 1000, np.inf], epsilon=100)
    assert list(found.frame().columns) == [
        "region", "year", "left", "right", "value", "lower", "upper", "usable"
    ]  # fmt: skip
    assert "  (N, 2024)  1,000      ∞" in str(found)
    assert from_text(to_text(found)) == found
    assert json.loads(found.to_json())["groups"][0]["release"]["axes"][0]["right"] == [1000, "inf"]
    assert repr(found) == "GroupedArrayRelease(histogram of 'x' by ('region', 'year'), 2 groups)"
    wide = groups.cdf("x", points=range(0, 3000, 100), epsilon=100)
    assert "and 30 more numbers: frame() has all" in str(wide)
    both = groups.release(n=ask.count(epsilon=1), q=ask.quantiles("x", q=[0.5], epsilon=1))
    assert [type(each).__name__ for each in both.values()] == [
        "GroupedRelease", "GroupedArrayRelease"
    ]  # fmt: skip


def test_several_columns_together_are_for_whole_tables() -> None:
    groups = mo.Curator(SALES, budget=mo.pure(1)).group_by("region", keys=["N"])
    with pytest.raises(mo.InvalidArgument, match="takes several together"):
        groups.covariance(["x", "p"], epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="takes several together"):
        groups.run(ask.mean_vector(["x", "p"], epsilon=1))
