"""Rows of persons beyond a limit are in no number: every answer says so, and is not "ok"."""

import json

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

PEOPLE, VISITS = 4000, 5
ROWS = PEOPLE * VISITS
TABLE = pd.DataFrame(
    {
        "p": np.arange(ROWS) // VISITS,
        "age": np.arange(ROWS) % 90.0,
        "w": 1.0 + np.arange(ROWS) % 3,
        "g": np.array(["a", "b", "c"])[np.arange(ROWS) % 3],
        "h": np.array(["x", "y"])[np.arange(ROWS) % 2],
    }
)
KEPT, ALL = mo.unit_of("p", max_rows=3), mo.unit_of("p")
WORDS = "rows beyond 3 of each person (p) are neither in the answer nor in its interval"
KEYS = ["a", "b", "c"]


def of(unit: mo.Unit) -> mo.Curator:
    return mo.Curator(
        TABLE, unit=unit, budget=mo.pure(10_000), entropy=SeededEntropy(f"left out of {unit}")
    )


ASKED = {
    "count": lambda curator: curator.count(epsilon=9),
    "sum": lambda curator: curator.sum("age", within=(0, 99), epsilon=9),
    "mean": lambda curator: curator.mean("age", within=(0, 99), epsilon=9),
    "weighted": lambda curator: curator.mean("age", weights="w", within=(0, 99), epsilon=9),
    "median": lambda curator: curator.median("age", within=(0, 99), epsilon=9),
    "std": lambda curator: curator.std("age", within=(0, 99), epsilon=9),
    "quantiles": lambda curator: curator.quantiles("age", q=[0.3], within=(0, 99), epsilon=9),
    "histogram": lambda curator: curator.histogram("age", edges=[0, 50, 99], epsilon=9),
    "vectors": lambda curator: curator.mean_vector(["age", "w"], within=(0, 99), epsilon=90),
    "crosstab": lambda curator: curator.crosstab(
        "g", "h", keys={"g": KEYS, "h": ["x", "y"]}, epsilon=9
    ),
    "value_counts": lambda curator: curator.value_counts("g", keys=KEYS, epsilon=9),
    "n_distinct": lambda curator: curator.n_distinct("g", epsilon=9),
}


@pytest.mark.parametrize("name", ASKED)
def test_answers_of_some_rows_of_persons_say_so_first(name: str) -> None:
    found = ASKED[name](of(KEPT))
    assert found.usable
    assert found.left_out == WORDS
    assert found.code != "ok"
    assert (found.status == WORDS) == (found.code == "left_out")
    assert WORDS in " ".join(str(found).split())
    assert "left out" in str(found).splitlines()[1]
    assert str(found).count("beyond 3") == 1
    assert json.loads(found.to_json())["left_out"] == WORDS
    assert type(found).from_json(found.to_json()) == found
    assert WORDS in found._repr_html_()
    assert "U (left_out)" in str(found.publish()) or found.code != "left_out"
    assert WORDS.capitalize() in " ".join(str(found.publish()).split())


@pytest.mark.parametrize("name", ["median", "std", "quantiles", "histogram"])
def test_so_do_those_of_a_limit_that_was_found(name: str) -> None:
    found = ASKED[name](of(ALL))
    assert found.limit is not None
    assert found.usable
    assert f"rows beyond {found.limit} of each person (p)" in str(found).splitlines()[1]
    assert found.code != "ok"


def test_groups_and_descriptions_say_so(tmp_path) -> None:
    grouped = of(KEPT).group_by("g", keys=KEYS).mean("age", within=(0, 99), epsilon=9)
    assert {each.code for each in grouped.values()} == {"left_out"}
    assert WORDS in " ".join(str(grouped).split())
    assert "left out" in str(grouped).splitlines()[1]
    assert str(grouped).count("beyond 3") == 1
    assert WORDS in grouped._repr_html_()
    described = of(KEPT).describe(["age"], epsilon=20)
    assert WORDS in " ".join(str(described).split())
    assert WORDS in described._repr_html_()
    for record in (grouped, described, of(KEPT).count(epsilon=1)):
        page = record.report(tmp_path / f"{type(record).__name__}.html").read_text("utf-8")
        assert WORDS.capitalize() in page
        assert "for the data at hand" not in page


@pytest.mark.parametrize(
    ("most", "words"),
    [(1, "rows in groups beyond 1 of each person (p)"), (2, "rows in groups beyond 2 of"), (3, "")],
)
def test_so_do_groups_of_persons_in_some_of_them(most: int, words: str) -> None:
    """Nothing is left out if a person may be in all groups."""
    grouped = of(ALL).group_by("g", keys=KEYS, max_groups=most).count(epsilon=30)
    assert {each.code for each in grouped.values()} == {"left_out" if words else "ok"}
    assert words in str(grouped)
    assert ("left out" in str(grouped)) == bool(words)
    means = mo.unit_of("p", combine="mean")
    of_means = of(means).group_by("g", keys=KEYS, max_groups=most)
    for record in (
        of_means.mean("age", within=(0, 99), epsilon=30)["b"],
        of(means).crosstab("g", keys=KEYS, max_groups=most, epsilon=30),
    ):
        assert (record.code != "ok") == bool(words)
        assert words in str(record)


def test_groups_in_which_a_person_was_found_to_count() -> None:
    grouped = of(ALL).group_by("g", keys=KEYS).median("age", within=(0, 99), epsilon=60)
    for each in grouped.values():
        beyond = each.groups_found < 3
        assert each.limit is not None
        assert ("in groups beyond" in each.left_out) == beyond


@pytest.mark.parametrize(
    "unit",
    [mo.unit_of(rows=5), mo.unit_of("p", combine="mean"), mo.unit_of("p"), mo.Unit()],
    ids=str,
)
def test_where_nothing_is_left_out_nothing_is_said(unit: mo.Unit) -> None:
    """A declared number of rows drops none, and of persons all rows count in counts and means."""
    for name in ("count", "mean"):
        found = ASKED[name](of(unit))
        assert found.left_out == ""
        assert found.code != "left_out"
    assert of(KEPT).n_distinct("p", epsilon=9).code == "ok"


def test_another_warning_stays() -> None:
    """A code that says more than that is kept; what is left out is said besides."""
    few = of(KEPT).mean("age", within=(0, 99), epsilon="0.001")
    assert few.code == "few_records"
    assert few.left_out == WORDS
    assert "left out" in str(few)
    assert few.status in " ".join(str(few).split())


def test_plans_warn_too() -> None:
    planned = mo.plan.count(n=1000, epsilon=1, unit=KEPT)
    assert planned.usable
    assert planned.status == WORDS
    assert mo.plan.count(n=1000, epsilon=1, unit=mo.unit_of(rows=3)).status == "ok"


def test_words() -> None:
    both = ALL.in_groups(2).left_out(9, 5)
    assert both.startswith("rows beyond 9 and rows in groups beyond 2 of each person (p) are")
    assert ALL.in_groups(2).left_out(None, 2) == ""
