"""Keys and constants are what the declared type of a column makes of them, on every engine."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum.sources.keys import constant_of, label_of, read_key
from tests.sources.engines.makers import RANDOM_ACCESS, TABLES

# ruff: noqa: DTZ001 -- columns without a time zone are tested too
ROWS = 40
DAY, MOMENT = dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 12, 30, 0, 5)
MIDNIGHT = dt.datetime(2024, 1, 31)
ZONE = dt.timezone(dt.timedelta(hours=9))
ZONED = dt.datetime(2024, 1, 31, 21, 30, 0, 5, ZONE)
COLUMNS = {
    "single": pa.array([0.1, 2.5], pa.float32()),
    "double": pa.array([0.1, 2.5], pa.float64()),
    "whole": pa.array([5, 2**53 + 1], pa.int64()),
    "byte": pa.array([5, -3], pa.int8()),
    "natural": pa.array([5, 2**64 - 1], pa.uint64()),
    "truth": pa.array([True, False]),
    "cents": pa.array([Decimal("0.10"), Decimal("7.00")], pa.decimal128(9, 2)),
    "day": pa.array([DAY, dt.date(1066, 10, 14)], pa.date32()),
    "midnight": pa.array([MIDNIGHT, MOMENT], pa.timestamp("ns")),
    "moment": pa.array([MOMENT, MIDNIGHT], pa.timestamp("us")),
    "zoned": pa.array([MOMENT, MIDNIGHT], pa.timestamp("us", "Asia/Tokyo")),
    "text": pa.array(["5", "North"]),
    "category": pa.array(["5", "North"]).dictionary_encode(),
}
TABLE = pa.table({name: pa.concat_arrays([each] * (ROWS // 2)) for name, each in COLUMNS.items()})
FOUND = {
    "single": [0.1, np.float32(0.1), np.float64(0.1), Decimal("0.1"), 2.5, Fraction(5, 2)],
    "double": [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(2.5)],
    "whole": [5, 5.0, np.int8(5), Decimal(5), 2**53 + 1],
    "byte": [5, -3.0, np.uint64(5)],
    "natural": [5, 2**64 - 1, Decimal(2**64 - 1)],
    "truth": [True, 0, 1.0, np.bool_(True)],
    "cents": [0.1, Decimal("0.1"), 7, Fraction(1, 10), np.float64(7)],
    "day": [DAY, MIDNIGHT, np.datetime64("2024-01-31"), pd.Timestamp(DAY), dt.date(1066, 10, 14)],
    "midnight": [DAY, MIDNIGHT, np.datetime64("2024-01-31"), np.datetime64("2024-01-31T00", "ns")],
    "moment": [MOMENT, DAY, pd.Timestamp(MOMENT), np.datetime64(MOMENT, "us")],
    "zoned": [ZONED, pd.Timestamp(ZONED), ZONED.astimezone(dt.UTC)],
    "text": ["5", "North"],
    "category": ["5", "North"],
}
REFUSED = {
    "single": ["0.1", 1e39, 1e-60, 2**24 + 1, DAY],
    "double": ["0.1", 2**53 + 1, Decimal("1e999")],
    "whole": ["5", 5.5, 2**63, float("inf"), Decimal("5.01"), DAY, Decimal("1e999999999")],
    "byte": [128, -129, 0.5],
    "natural": [-1, 2**64],
    "truth": ["True", 2, -1, 0.5],
    "cents": [0.105, "7", 10**7, Decimal("0.001"), float("inf")],
    "day": ["2024-01-31", MOMENT, ZONED, 5],
    "midnight": ["2024-01-31", ZONED, 5, pd.Timestamp("2024-01-31 00:00:00.000000001")],
    "moment": [ZONED, np.datetime64("2024-01-31T00:00:00.000000001")],
    "zoned": [MOMENT, DAY, np.datetime64("2024-01-31"), "2024-01-31"],
    "text": [5, 5.0, True, DAY, MOMENT, None, float("nan"), Decimal("nan"), pd.NaT],
    "category": [5, 5.0, True, DAY],
}


WRONG = r"no row has the key|can be no label"


@pytest.fixture(params=TABLES)
def curator(request, tmp_path) -> mo.Curator:
    return mo.Curator(TABLES[request.param](TABLE, tmp_path), budget=mo.pure(10**6))


def objects(curator: mo.Curator, name: str) -> bool:
    """Whether pandas makes objects of the values of a column, which have no type."""
    return name in {
        "day",
        "cents",
        "text",
        "category",
    } and "object" in curator._guard.source.label_type(name)


@pytest.mark.one_in(3)
def test_a_key_finds_what_the_type_of_the_column_makes_of_it(curator) -> None:
    for name in COLUMNS:
        if objects(curator, name):  # which are known by their text
            continue
        for key in FOUND[name]:
            (release,) = curator.group_by(name, keys=[key]).count(epsilon=200).values()
            assert release.value == ROWS / 2, (name, key)
        spent, other = curator.spent, "text" if name == "whole" else "whole"
        for key in REFUSED[name]:
            with pytest.raises(mo.InvalidArgument, match=WRONG):
                curator.group_by(name, keys=[key])
            with pytest.raises(mo.InvalidArgument, match=WRONG):
                curator.crosstab(name, other, keys={name: [key], other: FOUND[other]}, epsilon=1)
        assert curator.spent == spent


CONDITIONS = {
    "single == 0.1": 20, "0.1 == single": 20, "single != 0.1": 20, "single <= 0.1": 20,
    "single < 0.1": 0, "single in [0.1, 7]": 20, "single not in [0.1]": 20, "single > -0.1": 40,
    "single < 1e39": 40, "single > 1e-60": 40, "0.1 <= single <= 2.5": 40, "double == 0.1": 20,
    "cents == 0.1": 20, "cents in [0.1, 7]": 40, "whole == 5.0": 20, "natural >= 5": 40,
    "truth == True": 20, "col('single') == 0.1": 20, "where(single == 0.1, 1, 0) == 1": 20,
    "day <= '2024-01-31'": 40, "midnight <= '2024-01-31'": 20,
    "zoned < '2024-01-31T21:30+09:00'": 20,
}  # fmt: skip


@pytest.mark.one_in(3)
def test_a_constant_is_what_the_type_of_the_column_makes_of_it(curator) -> None:
    for condition, rows in CONDITIONS.items():
        if any(objects(curator, name) for name in ("day", "cents") if name in condition):
            continue
        assert curator.where(condition).count(epsilon=200).value == rows, condition
        if "single" in condition:  # in a column that is made, and of a view
            made = curator.with_columns(y=f"where({condition}, 1, 0)").where("y == 1")
            assert made.count(epsilon=200).value == rows
    mean = curator.with_columns(y="single == 0.1").mean("y", within=(0, 1), epsilon=99)
    assert mean.value == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
def test_drawn_keys_can_be_given_again_and_moments_have_their_zone(engine, tmp_path) -> None:
    table = pa.concat_tables([TABLE] * 20)
    curator = mo.Curator(RANDOM_ACCESS[engine](table, tmp_path), budget=mo.approx(10**6, "1e-3"))
    for name in COLUMNS:
        drawn = curator.group_by(name, key_budget=mo.approx(50, "1e-6"))
        assert len(drawn.keys) == 2
        again = curator.group_by(name, keys=drawn.keys).count(epsilon=200)
        assert [each.value for each in again.values()] == [ROWS * 10] * 2
        assert again.keys() == drawn.count(epsilon=200).keys()
        if name == "zoned":
            assert all(key.tzinfo is dt.UTC for key in drawn.keys)
            assert "2024-01-31 12:30:00.000005+00:00" in str(again)
            read = mo.GroupedRelease.from_json(again.to_json())
            assert list(read) == list(again)


def test_categories_of_pandas_have_a_type() -> None:
    for values, key, wrong in (
        ([1, 2], 1, "1"),
        ([0.5, 2.0], 0.5, "0.5"),
        (["a", "b"], "a", 1),
        (pd.to_datetime(["2024-01-31", "2025-01-31"]), DAY, "2024-01-31"),
        ([True, False], True, "True"),
    ):
        table = pd.DataFrame({"g": pd.Series(values).astype("category")})
        if table["g"].cat.categories.dtype == object:  # of pandas 2, where text has no type
            continue
        table = pd.concat([table] * 20, ignore_index=True)
        curator = mo.Curator(table, budget=mo.pure(10**6))
        assert curator.value_counts("g", keys=[key], epsilon=200).total.value == 20
        with pytest.raises(mo.InvalidArgument, match="no row has the key"):
            curator.value_counts("g", keys=[wrong], epsilon=200)


def test_keys_of_one_label_are_one() -> None:
    table = TABLE.to_pandas()
    for name, keys in {
        "single": [0.1, np.float32(0.1)],
        "midnight": [DAY, MIDNIGHT],
        "zoned": [ZONED, ZONED.astimezone(dt.UTC)],
        "truth": [True, 1.0],
    }.items():
        with pytest.raises(mo.InvalidArgument, match="different"):
            mo.Curator(table, budget=mo.pure(1)).group_by(name, keys=keys)


def test_labels_by_the_names_that_engines_print() -> None:
    assert label_of("timestamp", MOMENT, "") == label_of("timestamp", ZONED, "") == MOMENT
    assert label_of("timestamp('UTC')", ZONED, "") == MOMENT
    assert label_of("timestamp(6)", MOMENT, "") == MOMENT
    assert label_of("TIMESTAMP WITH TIME ZONE", ZONED, "") == MOMENT
    assert label_of("Decimal(precision=9, scale=2)", 0.1, "") == Decimal("0.1")
    assert label_of("decimal128(3, -2)", 1200, "") == 1200
    assert label_of("date32[day]", 10**8, "") == 10**8  # a day beyond all calendars
    assert label_of("hugeint", 2**126, "") == 2**126
    assert read_key(UUID(int=5), "") == str(UUID(int=5))
    assert read_key(b"North", "") == "North"
    for declared in ("FLOAT", "float[pyarrow]", "Float32", "float32"):
        assert constant_of(declared, np.float64(0.1)) == np.float32(0.1)
    for declared in ("halffloat", "float16"):
        assert constant_of(declared, np.float64(0.1)) == np.float16(0.1)
    for declared in ("", "double", "DOUBLE", "Float64", "int64", "decimal(9, 2)"):
        assert constant_of(declared, np.float64(0.1)) == 0.1
