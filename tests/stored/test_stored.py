"""A stored release reads back complete, whatever it is of."""

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.statistics.registry import REGISTRY
from modicum.stored import codec

BUDGETS = {"pure": mo.pure(1), "zcdp": mo.zcdp("0.5"), "approx": mo.approx(1, "1e-6")}
COLUMNS = {
    "many": np.random.default_rng(0).lognormal(3, 1, 3000),
    "equal": np.full(3000, 7.0),
    "few": np.array([1.0, 2.0]),
    "none": np.array([]),
}
CASES = [
    pytest.param(row, option, kind, id=f"{row.statistic}-{row.method}-{option}-{kind}")
    for row in REGISTRY
    for option in row.options
    for kind in row.kinds
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "data",
    ["many", "few", *(pytest.param(each, marks=pytest.mark.slow) for each in ("equal", "none"))],
)
@pytest.mark.parametrize(("row", "option", "kind"), CASES)
def test_every_release_reads_back_complete(row, option, kind, data) -> None:
    lattice = Lattice.within((-1e9, 1e9)) if row.needs_range else None
    query = row.query(None, lattice, BUDGETS[kind], option)
    curator = mo.Curator(COLUMNS[data], budget=BUDGETS[kind], entropy=SeededEntropy("s"))
    release = curator.run(query)
    again = codec.from_text(codec.to_text(release))
    assert again == release
    assert again.to_json() == release.to_json()
    assert again.explain() == release.explain()
    ends, same = release.interval(0.5, None), again.interval(0.5, None)
    assert all(np.array_equal(*pair) for pair in zip(same, ends, strict=True))


def test_no_two_records_share_a_name() -> None:
    for name in codec.STORED_TYPES:
        assert codec._type_named(name).__name__ == name
    assert codec._TYPES.keys() == codec.STORED_TYPES.keys()


def test_groups_of_persons_read_back_complete() -> None:
    table = pd.DataFrame(
        {"firm": ["a", "b"] * 900, "wage": np.arange(1800.0), "person": np.arange(1800) // 3}
    )
    unit = mo.unit_of("person", combine="mean")
    curator = mo.Curator(table, unit=unit, budget=mo.approx(9, "1e-3"))
    groups = curator.group_by("firm", key_budget=mo.approx(5, "1e-4"), max_groups=2)
    answer = groups.iqr("wage", within=(0, 1e6), epsilon=1)
    again = codec.from_text(codec.to_text(answer))
    assert again == answer
    assert again.unit == unit.in_groups(2)


def test_groups_and_their_drawn_keys_read_back_complete() -> None:
    table = pd.DataFrame({"firm": ["a", "b"] * 900, "wage": np.arange(1800.0)})
    curator = mo.Curator(table, unit=mo.unit_of("wage", max_rows=2), budget=mo.approx(9, "1e-3"))
    groups = curator.group_by("firm", key_budget=mo.approx(5, "1e-4"))
    answers = dict(groups.release(mean=mo.query.mean("wage", within=(0, 1e6), epsilon=1)))
    assert codec.from_text(codec.to_text(answers)) == answers
    again = codec.from_text(codec.to_text(answers))["mean"]
    assert str(again) == str(answers["mean"])
    pd.testing.assert_frame_equal(again.frame(), answers["mean"].frame())


VALUES = [
    None, True, 0, -(10**40), 0.1, -0.0, 5e-324, float("inf"), "", "é\n", (), (1, (2, 3)), [1, [2]],
    {"a": 1, 2: (3,)}, Fraction(1, 3), Decimal("1.50"), date(2024, 2, 29),
    datetime.fromisoformat("2024-02-29T12:30:01.000007"),
    mo.unit_of("id", max_rows=3, order_by="day"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_keep_their_types(value) -> None:
    again = codec.from_text(codec.to_text(value))
    assert repr(again) == repr(value)
    assert type(again) is type(value)


@pytest.mark.parametrize(
    "value", [Exception("x"), np.int64(1), mo.Interval(0, 1), {1}, b""], ids=repr
)
def test_what_is_not_listed_is_refused(value) -> None:
    with pytest.raises(TypeError, match="cannot be stored"):
        codec.to_text(value)


def damaged() -> list[str]:
    text = codec.to_text(Fraction(1, 3))
    record = json.loads(text)
    return [
        "", "[]", "{}", text[:-1],
        json.dumps(record | {"schema": "modicum.stored/4"}),
        json.dumps(record | {"schema": "modicum.stored/3"}),
        json.dumps(record | {"value": {"fraction": "1/0"}}),
        json.dumps(record | {"value": {"os.system": "ls"}}),
        json.dumps(record | {"value": {"Unit": {"rows": -1}}}),
        json.dumps(record | {"value": {"Unit": {"lines": 1}}}),
        json.dumps(record | {"value": {"tuple": [], "map": []}}),
    ]  # fmt: skip


@pytest.mark.parametrize("text", damaged())
def test_anything_else_is_refused(text) -> None:
    with pytest.raises(mo.LedgerCorrupt, match="cannot read it"):
        codec.from_text(text)


def test_the_account_is_part_of_it() -> None:
    release = mo.count([1.0] * 9, epsilon=1)
    assert codec.from_text(codec.to_text(release)) != replace(release, account="another")


def test_names_of_an_earlier_state_are_read() -> None:
    release = mo.covariance(np.ones((99, 2)), within=(-8, 8), epsilon=1)
    text = codec.to_text(release)
    for now, former in (
        ('"scaling":{"Scaling":', '"frame":{"Frame":'),
        ('"state":{"ColumnState":', '"held":{"HeldColumns":'),
    ):
        before = text.replace(now, former)
        assert before != text
        assert codec.from_text(before) == release


def test_releases_of_an_earlier_state_are_read() -> None:
    """Written before releases had codes, and some of their error models fewer fields."""
    written = json.loads((Path(__file__).parent / "stored_before_codes.json").read_text())
    assert len(written) == 16
    for name, text in written.items():
        release = codec.from_text(text)
        assert (release.code == "ok") == release.usable == (release.status == "ok"), name
        assert str(release)
        assert json.loads(release.to_json())["usable"] is release.usable
        again = codec.from_text(codec.to_text(release))
        assert again.to_json() == release.to_json()
