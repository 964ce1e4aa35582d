"""Views of tables: the same rows on every engine, at most a row more for a row more, charges."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum import query as ask
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.sources.conditions import expressions
from modicum.sources.conditions.view import View
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.sources.viewed import _distinct, view_of
from modicum.summaries.base import Read
from modicum.summaries.sums import Count
from tests.sources.cluster.remote import REMOTE
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.engines.makers import TABLES

RNG = np.random.default_rng(3)
ROWS = 3000
AGE = RNG.integers(0, 90, ROWS)
PEOPLE = pa.table(
    {
        "age": pa.array([None if RNG.random() < 0.1 else int(age) for age in AGE]),
        "region": pa.array(RNG.choice(["North", "South", "West"], ROWS).tolist()),
        "income": RNG.lognormal(10, 1, ROWS).round(2),
        "day": pa.array(RNG.choice(np.arange("1990-01-01", "2020-01-01", dtype="M8[D]"), ROWS)),
        "person": pa.array((RNG.integers(0, 800, ROWS)).tolist()),
    }
)
CONDITION = "age >= 18 and region in ['North', 'South'] and income / 1000 < 60"
FRAME = PEOPLE.to_pandas()
CHOSEN = FRAME[
    (FRAME.age >= 18) & FRAME.region.isin(["North", "South"]) & (FRAME.income / 1000 < 60)
]
VIEWS = (View(None, (("thousands", "income / 1000"),)), View(CONDITION))
SEEDED = {"budget": mo.approx(1000, "1e-6"), "entropy": SeededEntropy("views")}


def viewed(source, *views: View):
    for view in views:
        source = view_of(source, view, Unit())
    return source


@pytest.mark.parametrize("engine", TABLES)
def test_rows_are_the_same_on_every_engine(engine: str, tmp_path) -> None:
    source = viewed(open_source(TABLES[engine](PEOPLE, tmp_path)), *VIEWS)
    for _ in range(2):
        chunks = list(source.chunks([None, "thousands", "income"]))
        found = np.concatenate([chunk["thousands"] for chunk in chunks])
        assert np.array_equal(np.sort(found), np.sort(CHOSEN.income / 1000))
        assert sum(len(chunk[None]) for chunk in chunks) == len(CHOSEN)
    if source.check_label("day") != "object":  # as pandas holds dates
        late = viewed(source, View("day >= '2010-01-01'"))
        rows = sum(len(chunk[None]) for chunk in late.chunks([None]))
        assert rows == (CHOSEN.day.astype("M8[us]") >= np.datetime64("2010-01-01")).sum()


def test_cells_of_a_csv_file_are_numbers_or_texts_as_they_are_compared(tmp_path) -> None:
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, index=False)
    curator = mo.Curator(path, **SEEDED).with_columns(thousands="income / 1000").where(CONDITION)
    assert curator.count(epsilon=100).value == len(CHOSEN)
    assert curator.count("region", epsilon=100).value == len(CHOSEN)
    mean = curator.mean("thousands", epsilon=100).value
    assert mean == pytest.approx(CHOSEN.income.mean() / 1000, rel=0.01)
    nobody = mo.Curator(path, **SEEDED).where("missing(age)").count(epsilon=100)
    assert nobody.value == FRAME.age.isna().sum()


def test_a_view_of_a_view_sees_what_was_made() -> None:
    curator = mo.Curator(FRAME, **SEEDED).with_columns(band="age // 10 * 10", half="income / 2")
    curator = curator.where("band >= 20").with_columns(half="half / 2", adult="band > 10")
    rows = FRAME[FRAME.age >= 20]
    assert curator.sum("adult", within=(0, 1), epsilon=100).value == len(rows)
    assert curator.mean("half", epsilon=100).value == pytest.approx(
        rows.income.mean() / 4, rel=0.01
    )
    grouped = curator.group_by("band", keys=[20, 30, 10]).count(epsilon=100)
    assert [each.value for each in grouped.values()] == [
        (rows.age // 10 == 2).sum(), (rows.age // 10 == 3).sum(), 0
    ]  # fmt: skip
    drawn = curator.group_by("band", key_budget=mo.approx(50, "1e-7")).keys
    assert set(drawn) == {20, 30, 40, 50, 60, 70, 80}
    with pytest.raises(mo.MissingColumn, match="adultt"):
        curator.mean("adultt", epsilon=1)


UNITS = {
    "rows": mo.unit_of("person", max_rows=2),
    "ordered": mo.unit_of("person", max_rows=2, order_by="income"),
    "all": mo.unit_of("person"),
    "mean": mo.unit_of("person", combine="mean"),
}


@pytest.mark.parametrize("unit", UNITS)
def test_persons_are_those_of_the_rows_that_are_left(unit: str) -> None:
    """As if the user had made the table before."""
    made = CHOSEN.assign(thousands=CHOSEN.income / 1000)
    ours = mo.Curator(FRAME, unit=UNITS[unit], **SEEDED).with_columns(thousands="income / 1000")
    theirs = mo.Curator(made, unit=UNITS[unit], **SEEDED)
    kept = made.sort_values("income").groupby("person").head(2) if unit == "ordered" else made
    for curator in (ours.where(CONDITION), theirs):
        mean = curator.mean("thousands", epsilon=100).value
        assert mean == pytest.approx(kept.thousands.mean(), rel=0.1)
        groups = curator.group_by(
            "region", keys=["North", "West"], **({"max_groups": 2} if unit == "mean" else {})
        )
        assert groups.count(epsilon=100)["West"].value <= 3


def in_parts(table: pa.Table, _) -> Cluster:
    return Cluster([table.slice(start, 700) for start in range(0, ROWS, 700)])


MAKERS = {"parts": in_parts, **REMOTE}


@pytest.mark.parametrize("unit", [None, "all", "rows"])
@pytest.mark.parametrize("engine", MAKERS)
def test_the_view_is_made_where_the_rows_are(engine: str, unit: str | None, tmp_path) -> None:
    table = PEOPLE.set_column(0, "age", PEOPLE["age"].cast(pa.float64()))
    who = None if unit is None else UNITS[unit]
    far = mo.Curator(MAKERS[engine](table, tmp_path), unit=who, **SEEDED)
    near = mo.Curator(table, unit=who, **SEEDED)
    # pandas holds dates as objects.
    late = "income > 2e4" if engine in {"dask", "dask nullable"} else "year(day) > 2004"
    values = []
    for whole in (far, near):
        made = whole.with_columns(late=late, missed="missing(age)", other="income * 2")
        curator = made.where("age >= 18 and region != 'West'")
        found = [
            curator.mean("income", epsilon=100),
            curator.group_by("late", keys=[0, 1]).count(epsilon=100)[1],
            curator.group_by("late", key_budget=mo.approx(50, "1e-7")).sum("income", epsilon=50)[0],
            curator.count(epsilon=100),
            curator.sum("missed", within=(0, 1), epsilon=100),
        ]
        values.append([each.value for each in found])
    # A limit of rows keeps some at random, others each time.
    assert values[0] == pytest.approx(values[1], rel=0.25 if unit == "rows" else 0.1)
    assert values[0][4] == 0


VALUES = [None, 0.0, 1.0, -2.0, 5.0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "view",
    [
        View("x >= 0"),
        View("1 / x > 0 or missing(x)"),
        View(None, (("x", "x * x - 1"), ("y", "missing(x)"))),
        View("s == 'a' and x < 5"),
    ],
    ids=str,
)
def test_a_row_more_is_at_most_a_row_more_of_the_view(view: View) -> None:
    """[view.1] On all tables of up to three of ten rows, and all their neighbours."""
    rows = [(x, s) for x in VALUES for s in ("a", None)]

    def of(table: list) -> Counter:
        x, s = ([row[place] for row in table] for place in (0, 1))
        frame = pd.DataFrame({"x": pd.array(x, "Float64"), "s": pd.array(s, "str")})
        source = view_of(open_source(frame), view, Unit())
        names = [name for name in source.names if name != "s"]
        chunks = list(source.chunks([None, *names]))
        found = [tuple(repr(chunk[name][i]) for name in names) for chunk in chunks
                 for i in range(len(chunk[None]))]  # fmt: skip
        return Counter(found)

    for first in rows:
        for second in rows:
            less, more = of([first]), of([first, second])
            assert less <= more
            assert (more - less).total() <= 1
            assert more == of([second, first])


def test_what_says_whose_a_row_is_stays() -> None:
    curator = mo.Curator(FRAME, unit=UNITS["ordered"], **SEEDED)
    for name in ("person", "income"):
        with pytest.raises(mo.InvalidArgument, match="whose the rows are"):
            curator.with_columns(**{name: "age"})
    with pytest.raises(mo.InvalidArgument, match="needs a column"):
        curator.with_columns()
    with pytest.raises(mo.InvalidArgument, match="named columns"):
        mo.Curator([1.0, 2.0], budget=mo.pure(1)).where("x > 1")


@pytest.mark.parametrize(
    "unit", [mo.unit_of("a, b"), mo.unit_of("who", max_rows=1, order_by="a, b")], ids=str
)
def test_columns_of_keys_are_not_joined_to_one_that_says_whose_rows_are(unit) -> None:
    """Or every group would be one person, who has all of its rows."""
    when = pd.to_datetime(["2026-01-01", "2026-01-02"])
    table = pd.DataFrame({"a": [1, 1], "b": ["x", "x"], "a, b": when, "who": ["p", "q"]})
    curator = mo.Curator(table, unit=unit, budget=mo.approx(9, "1e-6"))
    keys = [(1, "x")]
    with pytest.raises(mo.InvalidArgument, match="rename it"):
        curator.group_by("a", "b", keys=keys)
    with pytest.raises(mo.InvalidArgument, match="rename it"):
        curator.crosstab("a", "b", key_budget=mo.approx(1, "1e-6"), epsilon=1)
    assert not curator.charges


def test_how_a_column_lies_in_memory_does_not_show(monkeypatch) -> None:
    """NumPy has other kernels for arrays that run backwards, which differ in the last bit."""
    seen = []

    def exp(x):
        seen.append(x.strides)
        return np.exp(x)

    monkeypatch.setitem(expressions._OF_NUMBERS, "exp", (exp, 1, 1))
    x = np.linspace(-9.0, 9.0, 1000)
    found = []
    for column in (x[::-1], x[::-1].copy()):
        table = pd.DataFrame({"x": column}, copy=False)
        view = view_of(open_source(table), View(None, (("y", "exp(x) ** 1.5 - exp(-x)"),)), Unit())
        found += [chunk["y"].tobytes() for chunk in view.chunks(["y"])]
    assert seen == [(8,)] * 4
    assert found[0] == found[1]


def test_all_views_charge_one_budget_and_are_told() -> None:
    curator = mo.Curator(FRAME, budget=mo.pure(3))
    old = curator.where("age >= 65")
    bands = old.with_columns(band="age // 10")
    release = old.mean("income", epsilon=1)
    assert "  where          age >= 65\n" in str(release)
    assert json.loads(release.to_json())["view"] == ["where age >= 65"]
    groups = bands.group_by("band", keys=[6, 7, 8]).count(epsilon=1)
    assert "  with     band = age // 10\n" in str(groups)
    assert groups[7].view == ("where age >= 65", "with band = age // 10")
    array = bands.quantiles("income", q=[0.5], epsilon="0.5")
    assert "  with           band = age // 10\n" in str(array)
    assert curator.remaining == old.remaining == bands.remaining == mo.pure("1/2")
    with pytest.raises(mo.BudgetExceeded):
        bands.count(epsilon=1)
    assert "view" not in json.loads(curator.count(epsilon="0.1").to_json())


def test_a_key_belongs_to_the_view_too(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.approx(10, "1e-6"))
    curator = mo.Curator(FRAME, ledger=url, account="people")
    monday = curator.idempotent("Monday").where("age >= 65")
    first, again = monday.count(epsilon=1), monday.count(epsilon=1)
    assert first == again
    assert first.view == ("where age >= 65",)
    with pytest.raises(mo.KeyReusedError):
        curator.idempotent("Monday").count(epsilon=1)
    once = mo.count(FRAME, where="age >= 65", epsilon=1, ledger=url, account="people", key="Monday")
    assert once == first
    keyed = curator.idempotent("keys").where("age >= 65")
    budget = mo.approx(1, "1e-7")
    assert keyed.group_by("region", key_budget=budget).keys == (
        keyed.group_by("region", key_budget=budget).keys
    )
    with pytest.raises(mo.KeyReusedError):
        curator.idempotent("keys").group_by("region", key_budget=budget)


def test_functions_of_a_table_take_a_condition() -> None:
    found = mo.mean(FRAME, "income", where=CONDITION, epsilon=5)
    assert found.value == pytest.approx(CHOSEN.income.mean(), rel=0.2)
    assert found.view == (f"where {CONDITION}",)
    with pytest.raises(mo.MissingColumn, match="did you mean 'age'"):
        mo.count(FRAME, where="agee > 3", epsilon=1)


def test_the_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "people.parquet"
    FRAME.to_parquet(path)
    words = [
        "mean",
        str(path),
        "thousands",
        "--with",
        "thousands=income / 1000",
        "--where",
        CONDITION,
    ]
    assert main([*words, "--epsilon", "20"]) == 0
    out = capsys.readouterr().out
    assert f" with thousands = income / 1000 where {CONDITION} " in " ".join(out.split())
    band = ["--with", "band=age // 30", "--with", "next=band + 1"]
    words = ["count", str(path), *band, "--by", "next", "--keys", "1,2,3", "--epsilon", "20"]
    assert main([*words, "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    counts = [(FRAME.age // 30 == band).sum() for band in range(3)]
    assert [each["release"]["value"] for each in groups] == pytest.approx(counts, abs=2)
    for wrong, told in (("age", "must be a name"), ("=x", "must be a name"), ("x=", "must be")):
        assert main(["count", str(path), "--with", wrong, "--epsilon", "1"]) == 2
        assert told in capsys.readouterr().err
    assert main(["count", str(path), "--where", "agee > 1", "--epsilon", "1"]) == 2
    assert "did you mean 'age'" in capsys.readouterr().err


def test_a_condition_on_nothing_else_reads_what_it_needs() -> None:
    reads = [Read(None, None, Count())]
    source = view_of(open_source(FRAME), View("region == 'North'"), Unit())
    assert read(source, reads, SeededEntropy("a"))[0].count == (FRAME.region == "North").sum()
    assert ask.count(epsilon=1).statistic == "count"


def test_rows_of_a_made_column_are_fetched_by_their_places() -> None:
    """They are made of the rows at those places, as chunks are; a chosen row has no place."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.normal(size=5000), "b": rng.integers(-3, 3, 5000), "c": "x"})
    source = open_source(table)
    made = view_of(source, View(None, (("m", "a / b + exp(b)"), ("t", "(c == 'x') + b"))), Unit())
    rows = made.fetchable("m")
    assert rows is not None
    assert rows.size == 5000
    places = np.array([0, 3, 77, 4999])
    (chunk,) = made.chunks(["m"], {})
    assert np.array_equal(rows.take(places), chunk["m"][places], equal_nan=True)
    assert np.isnan(chunk["m"]).any()
    assert made.fetchable("t") is None  # of text
    assert view_of(source, View("a > 0"), Unit()).fetchable("a") is None


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [1, 2, 30, 5000, 2**40])
def test_joined_codes_are_told_apart_as_by_numpy(columns: int, width: int) -> None:
    rng = np.random.default_rng(columns)
    for rows in (0, 1, 2, 3000):
        codes = rng.integers(-1, width, (columns, rows))
        codes[:, rows // 2 :] = codes[:, : rows - rows // 2]  # some of them twice
        distinct, places = _distinct(codes)
        expected, inverse = np.unique(codes, axis=1, return_inverse=True)
        assert np.array_equal(distinct, expected)
        assert np.array_equal(places, inverse.ravel())
    missing = np.full((columns, 5), -1)
    assert _distinct(missing)[0].tolist() == [[-1]] * columns
