"""Published tables: of every record, rounded, flagged, long and wide, with their terms."""

import csv
import datetime as dt
import hashlib
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.publishable import Publishable
from modicum.releases.publishing.answers import AnswerRows
from modicum.releases.publishing.csvw import CsvColumn, csv_text

RNG = np.random.default_rng(3)
ROWS = 20_000
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], ROWS),
        "region": RNG.choice(["North", "South"], ROWS),
        "income": RNG.lognormal(10, 0.4, ROWS),
        "value": RNG.choice(["=1+1", "b"], ROWS),
    }
)
BUDGET = mo.approx(1000, "1e-3")


@pytest.fixture(scope="module")
def curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=BUDGET)


class Given(Publishable):
    """A record of given numbers."""

    def __init__(self, rows, labels=None, **terms):
        self.rows, self.labels, self.more = rows, labels or {}, terms

    def answers(self, level=0.95, tail="auto", *, population=False):
        terms = {
            "cost": "ε = 1",
            "unit": "one row",
            "neighbours": "add-remove",
            "interval_level": level,
            "interval_of": "for the data at hand",
        }
        columns = [*map(list, zip(*self.rows, strict=True))]
        return AnswerRows("numbers", self.labels, *columns, terms | self.more, pd.DataFrame)


CROSS = Given(
    [
        (120.4, 110.2, 130.6, "ok"),
        (7.0, 5.0, 9.0, "ok"),
        (40.0, 0.0, 80.0, "ok"),
        (50.0, -1e9, 1e9, "few_records"),
        (60.0, 50.0, 70.0, "heavy_tail"),
        (0.0, -1.0, 1.0, "ok"),
    ],
    {"sex": ["f", "f", "f", "m", "m", "m"], "age": ["young", "old", None, "young", "old", None]},
)


def test_rules_leave_numbers_out_and_mark_them() -> None:
    found = CROSS.publish(suppress={"below": 10, "wider": 1}, unreliable={"wider": 0.15})
    flags = [(each.flag, each.reason) for each in found.numbers]
    assert flags == [
        ("U", "wider"),
        ("Q", "below"),
        ("Q", "wider"),
        ("Q", "few_records"),
        ("U", "heavy_tail"),
        ("Q", "below"),
    ]
    frame = found.frame()
    assert frame["value"].isna().tolist() == [False, True, True, True, False, True]
    assert frame["lower"].isna().equals(frame["value"].isna())
    assert frame["upper"].isna().equals(frame["value"].isna())
    assert found.legend.keys() == {"U", "Q"}
    text = str(found)
    assert "Left out, 4 of 6: answers that cannot be used, values below 10" in " ".join(
        text.split()
    )
    assert "few_records" in text
    for hidden in ("[5,", "80", "1000000000"):
        assert hidden not in text


def test_rules_may_be_left_out() -> None:
    kept = CROSS.publish(suppress={"unusable": False})
    assert [each.flag for each in kept.numbers] == ["A", "A", "A", "U", "U", "A"]
    assert kept.numbers[3].reason == "few_records"
    usual = CROSS.publish()
    assert [each.flag for each in usual.numbers] == ["A", "A", "A", "Q", "U", "A"]
    assert usual.terms["suppressed"] == ["answers that cannot be used"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"suppress": {"belw": 1}}, "no rule 'belw', did you mean 'below'"),
        ({"suppress": {"below": "x"}}, "suppress: below must be a number"),
        ({"suppress": {"below": True}}, "suppress: below must be a number"),
        ({"suppress": {"wider": 0}}, "wider must be a positive share"),
        ({"suppress": {"wider": math.nan}}, "wider must be a number"),
        ({"suppress": {"unusable": 1}}, "unusable must be True or False"),
        ({"suppress": ["below"]}, "suppress must be rules"),
        ({"unreliable": {"unusable": True}}, "unreliable has no rule 'unusable'"),
        ({"digits": "all"}, "digits must be"),
        ({"title": 3}, "title must be text"),
        ({"citation": b"x"}, "citation must be text"),
        ({"population": 1}, "population must be"),
    ],
)
def test_bad_arguments(arguments, words) -> None:
    with pytest.raises(mo.InvalidArgument, match=words):
        CROSS.publish(**arguments)


def test_a_wide_table_has_columns_for_each_label() -> None:
    found = CROSS.publish(suppress={"below": 10})
    wide = found.frame(wide="sex")
    five = ["", " lower", " upper", " flag", " reason"]
    assert list(wide.columns) == ["age", *(sex + each for sex in "fm" for each in five)]
    assert wide["age"].tolist()[:2] == ["young", "old"]
    assert wide["f"].tolist()[0] == 120
    assert math.isnan(wide["f"].tolist()[1])
    assert wide["m flag"].tolist() == ["Q", "U", "Q"]
    both = found.frame(wide="age")
    assert len(both) == 2
    assert {"young", "old", "(none)", "(none) flag"} <= {*both.columns}


def test_a_wide_table_may_lack_cells() -> None:
    labels = {"sex": ["f", "m", "m"], "age": [1, 1, 2]}
    found = Given([(5.0, 4.0, 6.0, "ok")] * 3, labels).publish()
    wide = found.frame(wide="sex")
    assert wide["f flag"].tolist() == ["A", ""]
    assert math.isnan(wide["f"].tolist()[1])
    with pytest.raises(mo.InvalidArgument, match=r"one of \['sex', 'age'\].*did you mean 'age'"):
        found.frame(wide="agee")
    twice = Given([(5.0, 4.0, 6.0, "ok")] * 2, {"sex": ["f", "f"]}).publish()
    with pytest.raises(mo.InvalidArgument, match="several numbers have the same labels"):
        twice.frame(wide="sex")
    alike = Given([(5.0, 4.0, 6.0, "ok")] * 2, {"key": [1, "1"]}).publish()
    with pytest.raises(mo.InvalidArgument, match="several columns would be named"):
        alike.frame(wide="key")


def test_groups(curator: mo.Curator) -> None:
    groups = curator.group_by(
        "sex", "region", keys={"sex": ["f", "m"], "region": ["North", "East"]}
    )
    found = groups.mean("income", within=(0, 1e7), epsilon=1).publish(digits=-2, title="Income")
    frame = found.frame()
    assert list(frame.columns) == ["sex", "region", "value", "lower", "upper", "flag", "reason"]
    assert frame["flag"].tolist() == ["A", "Q", "A", "Q"]  # there is no East
    assert frame["value"].dropna().mod(100).eq(0).all()
    assert found.terms["keys"] == "given"
    assert found.terms["cost"] == "ε = 1"
    assert found.terms["within"] == [0.0, 1e7]
    assert found.terms["by"] == ["sex", "region"]
    assert "few_records" in found.terms["code"]
    assert str(found).startswith("Income\n  sex  region")


def test_keys_that_were_drawn_are_paid_for(curator: mo.Curator) -> None:
    groups = curator.group_by("region", key_budget=mo.approx("0.5", "1e-6"))
    found = groups.count(epsilon=1).publish(base=100)
    assert found.terms["keys"] == "drawn"
    assert found.terms["keys_cost"] == "(ε, δ) = (0.5, 0.000001)"
    assert "and (ε, δ) = (0.5, 0.000001) for drawing the keys" in " ".join(str(found).split())
    assert all(each.value % 100 == 0 for each in found.numbers)


def test_no_groups_at_all(curator: mo.Curator) -> None:
    few = mo.Curator(TABLE[:2], budget=BUDGET)
    groups = few.group_by("region", key_budget=mo.approx("0.1", "1e-9"))
    assert groups.keys == ()
    for release in (groups.count(epsilon=1), groups.quantiles("income", q=[0.5], epsilon=1)):
        found = release.publish()
        assert len(found) == 0
        assert next(iter(found.frame().columns)) == "region"
        assert "region" in str(found)
        assert found.terms["unit"] == "one row"


def test_groups_of_several_numbers(curator: mo.Curator) -> None:
    groups = curator.group_by("sex", keys=["f", "m"])
    found = groups.quantiles("income", q=[0.25, 0.75], epsilon=1).publish()
    assert list(found.frame().columns)[:3] == ["sex", "q", "value"]
    assert list(found.frame(wide="q").columns)[:2] == ["sex", "0.25"]
    assert found.terms["interval_simultaneous"] is True
    with pytest.raises(mo.InvalidArgument, match="no intervals for a population"):
        groups.quantiles("income", q=[0.25], epsilon=1).publish(population=True)


def test_one_number_and_several(curator: mo.Curator) -> None:
    one = curator.mean("income", epsilon=1, population=True)
    found, whole = one.publish(), one.publish(population=True)
    assert len(found) == len(whole) == 1
    assert "for the data at hand" in str(found)
    assert "for the population" in str(whole)
    assert whole.numbers[0].lower < found.numbers[0].lower
    assert one.publish(level=0.5).terms["interval_level"] == 0.5
    with pytest.raises(mo.InvalidArgument, match="level must be"):
        one.publish(level=2)
    with pytest.raises(mo.InvalidArgument, match="population=True"):
        curator.mean("income", epsilon=1).publish(population=True)
    bins = curator.histogram("income", edges=[0, 2e4, math.inf], epsilon=1).publish(base=10)
    assert list(bins.frame().columns)[:2] == ["left", "right"]
    assert "INF" in csv_text(bins._columns())


def test_a_description() -> None:
    found = mo.describe(TABLE, ["income", "sex"], budget=mo.approx(4, "1e-6"))
    table = found.publish()
    frame = table.frame()
    assert list(frame.columns)[:2] == ["column", "statistic"]
    assert len(frame) == 1 + 5 + 2
    raw = found.frame().query("statistic != 'missing'").reset_index(drop=True)
    assert frame["statistic"].tolist() == raw["statistic"].tolist()
    assert (frame["lower"] <= raw["lower"]).all()
    assert (frame["upper"] >= raw["upper"]).all()
    assert table.terms["cost"] == "(ε, δ) = (4, 0.000001)"
    assert {each["statistic"] for each in table.terms["releases"]} == {"count", "mean", "quantiles"}
    assert table.frame(wide="statistic").shape[0] == 3


def test_numbers_of_numpy_and_integers_are_published() -> None:
    found = Given([(5, np.float64(4.0), np.float64(6.0), "ok")]).publish()
    assert [str(each) for each in found.numbers[0][:3]] == ["5", "4", "6"]


def test_a_label_column_of_a_name_that_is_taken(curator: mo.Curator) -> None:
    groups = curator.group_by("value", keys=["=1+1", "b"])
    assert "value (label)" in groups.count(epsilon=1).publish().frame().columns


def test_frames_of_every_library() -> None:
    for table, kind in ((TABLE, pd.DataFrame), (pl.from_pandas(TABLE), pl.DataFrame)):
        curator = mo.Curator(table, budget=mo.pure(9))
        groups = curator.group_by("sex", keys=["f", "none"]).count(epsilon=1)
        for wide in (None, "sex"):
            assert isinstance(groups.publish(suppress={"below": 100}).frame(wide), kind)
    assert isinstance(mo.count([1.0] * 99, epsilon=1).publish().frame(), list)


def test_a_release_of_a_test_says_so() -> None:
    curator = mo.Curator(TABLE, budget=BUDGET, entropy=SeededEntropy("s"))
    assert "WARNING: test entropy" in str(curator.count(epsilon=1).publish())


def test_the_files(tmp_path: Path) -> None:
    found = CROSS.publish(citation="Office, “2026”", rights="CC BY 4.0", title="A & <b>")
    target, beside = found.to_csv(tmp_path / "a b.csv")
    assert [each.name for each in (target, beside)] == ["a b.csv", "a b.csv-metadata.json"]
    rows = list(csv.reader(target.read_text("utf-8").splitlines()))
    assert rows[0] == ["sex", "age", "value", "lower", "upper", "flag", "reason"]
    assert rows[1] == ["f", "young", "120", "110", "131", "A", ""]
    assert rows[4] == ["m", "young", "", "", "", "Q", "few_records"]
    about = json.loads(beside.read_text(encoding="utf-8"))
    assert about["@context"][0] == "http://www.w3.org/ns/csvw"
    assert about["url"] == "a%20b.csv"
    assert about["dc:title"] == "A & <b>"
    assert about["dc:bibliographicCitation"] == "Office, “2026”"
    assert about["dc:rights"] == "CC BY 4.0"
    columns = about["tableSchema"]["columns"]
    assert [each["titles"] for each in columns] == rows[0]
    assert [each["datatype"] for each in columns] == ["string"] * 2 + ["double"] * 3 + [
        "string"
    ] * 2
    (terms,) = about["notes"]
    assert terms["csv_sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert {"schema", "cost", "unit", "neighbours", "rounding", "suppressed", "flags"} <= {*terms}
    assert "&amp; &lt;b&gt;" in found._repr_html_()


def test_the_terms_of_a_release_are_in_the_file(curator: mo.Curator, tmp_path: Path) -> None:
    groups = curator.where("income > 0").group_by("sex", keys=["f"])
    release = groups.mean("income", epsilon="0.5")
    _, beside = release.publish(suppress={"wider": 0.5}).to_csv(tmp_path / "x.csv")
    (terms,) = json.loads(beside.read_text(encoding="utf-8"))["notes"]
    assert {
        "statistic": "mean",
        "column": "income",
        "cost": "ε = 0.5",
        "epsilon_exact": "1/2",
        "neighbours": "add-remove",
        "unit": "one row",
        "method": "adaptive",
        "view": ["where income > 0"],
        "interval_level": 0.95,
        "interval_of": "for the data at hand",
        "keys": "given",
        "version": mo.__version__,
        "private": True,
        "account": release.account,
    }.items() <= terms.items()
    assert "tail=" in str(terms["interval_assumption"])
    assert "wider than 0.5" in terms["suppressed"][1]


def test_cells_of_every_kind() -> None:
    cells = [None, True, 3, 2.5, math.inf, 'a,"b"\n', dt.date(2024, 1, 2)]
    moment = dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC)
    text = csv_text([CsvColumn("x", "", [*cells, moment])])
    read = [row[0] if row else "" for row in csv.reader(io.StringIO(text, newline=""))]
    assert read[1:] == [
        "", "true", "3", "2.5", "INF", 'a,"b"\n', "2024-01-02", "2024-01-02T03:00:00+00:00",
    ]  # fmt: skip
    for kind, those in {
        "boolean": [True, None],
        "integer": [1, 2],
        "double": [1, 2.5],
        "date": [dt.date(2024, 1, 2)],
        "dateTime": [moment],
        "string": [1, True],
    }.items():
        assert CsvColumn("x", "", those).datatype == kind


def test_what_is_long_is_cut_in_print() -> None:
    found = Given([(5.0, 4.0, 6.0, "ok")] * 99, {"key": [*range(99)]}).publish()
    assert "and 69 more: frame() has all" in str(found)
    assert len(found.frame()) == 99
    assert repr(found) == "PublishedTable('numbers', 99 numbers)"


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_types_of_columns_do_not_depend_on_what_they_hold(make) -> None:
    data = make({"region": ["N", "S", "S"] * 99})
    groups = mo.Curator(data, budget=mo.pure(50)).group_by("region", keys=["N", "S"])
    count = groups.count(epsilon=50)
    rules = ({}, {"suppress": {"below": 1e9}}, {"unreliable": {"below": 1e9}})
    for wide in (None, "region"):
        tables = [count.publish(**each).frame(wide) for each in rules]
        if make is pd.DataFrame:
            kinds = [each.dtypes.to_dict() for each in tables]
        else:
            kinds = [each.schema for each in tables]
        assert kinds[0] == kinds[1] == kinds[2]
    if make is pl.DataFrame:
        assert len(pl.concat(count.publish(**each).frame() for each in rules)) == 6
