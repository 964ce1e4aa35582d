"""Whatever is released can be published, of ugly data too, and the ends hold what they held."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.lattice import Lattice
from modicum.statistics.registry import REGISTRY
from modicum.summaries.base import Columns

SIZE = 1500
RNG = np.random.default_rng(4)
DATA = {
    "lognormal": RNG.lognormal(0, 1.5, SIZE),
    "rare": (RNG.random(SIZE) < 0.02).astype(float),
    "one": np.full(SIZE, 7.0),
    "none": np.empty(0),
    "clusters": RNG.choice([1e-9, 1e9], SIZE),
    "large": RNG.normal(1e12, 1e9, SIZE),
    "small": RNG.normal(0, 1e-9, SIZE),
}
ROWS = [pytest.param(row, id=f"{row.statistic}-{row.method}") for row in REGISTRY]
RULES = (
    {},
    {"digits": None, "suppress": {"unusable": False}},
    {"digits": -2, "tail": None},
    {"base": "0.25", "level": 0.5, "suppress": {"wider": 0.5, "below": 0}},
)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.one_in(6)
def test_every_statistic_is_published(row, tmp_path) -> None:
    for name, column in DATA.items():
        table = pd.DataFrame({"x": column, "y": np.sqrt(np.abs(column)), "key": "a"})
        curator = mo.Curator(table, budget=mo.zcdp(1000))
        place = "x"
        if row.of_rows:
            place = Columns(("x",) if row.statistic == "vector_statistic" else ("x", "y"))
        elif row.statistic == "count":
            place = None
        try:
            query = row.query(*queried(row, place), mo.zcdp(1), row.options[0])
        except mo.InvalidArgument:
            query = row.query(*queried(row, place), mo.pure(3), row.options[0])
        release = curator.run(query)
        for rules in RULES:
            published = release.publish(**rules)
            check(release, published, rules)
        published.to_csv(tmp_path / f"{name}.csv")
        page = release.report(tmp_path / f"{name}.html").read_text("utf-8")
        assert ("cannot be used" in page.partition("<figure>")[0]) == (not release.usable)
        assert "nan" not in page.partition('<script type="application/json"')[0].lower()


def queried(row, place):
    return place, Lattice.within((-1e13, 1e13)) if row.needs_range else None


def check(release, published, rules) -> None:
    given = {name: rules[name] for name in ("level", "tail") if name in rules}
    raw = release.answers(**given)
    assert len(published) == len(raw.values)
    for number, value, lower, upper, code in zip(
        published.numbers, raw.values, raw.lower, raw.upper, raw.codes, strict=True
    ):
        if number.flag == "Q":
            assert number[:3] == (None, None, None)
            assert number.reason in {code, "wider", "below"}
            continue
        assert number.flag == ("A" if code == "ok" else "U")
        assert number.lower <= number.value <= number.upper
        assert number.lower <= Decimal(repr(lower))
        assert number.upper >= Decimal(repr(upper))
        assert math.isfinite(number.value)
        if rules.get("digits", "auto") is None:
            assert float(number.value) == value
