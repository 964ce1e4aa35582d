"""How many labels a column has: the exact number, what a person changes, what is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from tests.sources.conditions.test_views import in_parts
from tests.sources.engines.makers import TABLES

ROWS = pd.DataFrame(
    {
        "person": ["p", "p", "q", "q", "r"],
        "city": ["A", "B", "A", None, "C"],
        "year": [1, 1, 2, 2, 1],
    }
)


def noise_of(release) -> LaplaceNoise:
    return release.error_model.noise


@pytest.mark.parametrize(("column", "number"), [("person", 3), ("city", 3), ("year", 2)])
def test_the_number_is_exact_but_for_noise(column, number) -> None:
    release = mo.n_distinct(ROWS, column, epsilon=60)
    assert release.value == number
    assert (release.statistic, release.column, release.code) == ("n_distinct", column, "ok")
    assert noise_of(release).scale == Fraction(1, 60)


def test_one_row_more_changes_the_number_by_one_at_most() -> None:
    """[crosstab.8] Exhaustive on tables of up to four rows with three labels and none."""
    labels = ["A", "B", None]
    for size in range(4):
        for code in range(len(labels) ** size):
            rows = [labels[code // 3**place % 3] for place in range(size)]
            for more in labels:
                found = [
                    mo.n_distinct(pd.DataFrame({"city": pd.Series(r, dtype=object)}), "city",
                                  epsilon=99).value
                    for r in (rows, [*rows, more])
                ]  # fmt: skip
                assert 0 <= found[1] - found[0] <= 1


def test_a_person_costs_what_their_labels_may_change() -> None:
    person = mo.unit_of("person")
    assert noise_of(mo.n_distinct(ROWS, "person", unit=person, epsilon=1)).scale == 1
    two = mo.unit_of("person", max_rows=2)
    assert noise_of(mo.n_distinct(ROWS, "city", unit=two, epsilon=1)).scale == 2
    assert noise_of(mo.n_distinct(ROWS, "person", unit=two, epsilon=1)).scale == 1
    groups = mo.n_distinct(ROWS, "city", unit=person, max_groups=3, epsilon=1)
    assert noise_of(groups).scale == 3
    in_rho = mo.n_distinct(ROWS, "city", unit=person, max_groups=3, rho=1)
    assert in_rho.error_model.noise.sigma2 == Fraction(9, 2)
    one = mo.n_distinct(ROWS, "city", unit=mo.unit_of("person", max_rows=1), epsilon=60)
    assert one.value <= 3


def test_a_person_without_a_bound_is_refused() -> None:
    curator = mo.Curator(ROWS, unit=mo.unit_of("person"), budget=mo.pure(1))
    with pytest.raises(mo.InvalidArgument, match="max_groups=1"):
        curator.n_distinct("city", epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="not needed"):
        curator.n_distinct("person", max_groups=1, epsilon=1)
    with pytest.raises(mo.MissingColumn):
        curator.n_distinct("town", epsilon=1)
    with pytest.raises(mo.InvalidArgument):
        curator.n_distinct(None, epsilon=1)
    assert curator.spent.amount == 0


@pytest.mark.parametrize("engine", [*TABLES, "parts"])
def test_engines_agree(engine, tmp_path) -> None:
    table = {**TABLES, "parts": in_parts}[engine](pa.Table.from_pandas(ROWS), tmp_path)
    assert mo.n_distinct(table, "person", epsilon=60).value == 3


def test_noise_is_that_of_a_count() -> None:
    table = pd.DataFrame({"city": np.arange(500)})
    curator = mo.Curator(table, budget=mo.pure(10_000), entropy=SeededEntropy("distinct"))
    errors = [curator.n_distinct("city", epsilon="0.25").value - 500 for _ in range(600)]
    variance = LaplaceNoise(Fraction(4)).variance
    assert 0.8 < np.mean(np.square(errors)) / variance < 1.25  # 30 % is a factor of 1.69
