"""Questions of ugly tables at any cost, of rows, persons and groups: no error once it is charged.

What noise says of how many records there are decides what a search draws, and what that leaves.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.errors import ModicumError
from modicum.exact.entropy import SeededEntropy

COLUMNS: list[Any] = [
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.lognormal(0, 3, n),
    lambda _, n: np.zeros(n),
    lambda rng, n: (rng.random(n) < 0.02) * 1.0,
    lambda rng, n: 1e300 * rng.normal(size=n),
    lambda rng, n: 1e-300 * rng.normal(size=n),
    lambda rng, n: np.where(rng.random(n) < 0.3, 1e9, -5.0),
    lambda _, n: np.full(n, np.nan),
    lambda _, n: np.full(n, 7.5),
    lambda rng, n: rng.standard_cauchy(n),
    lambda rng, n: np.where(rng.random(n) < 0.9, 0, rng.lognormal(5, 1, n)),
    lambda rng, n: rng.integers(1950, 2010, n).astype(float),
    lambda rng, n: 1e6 + 1e-3 * rng.normal(size=n),
    lambda rng, n: np.where(rng.random(n) < 0.03, -1e8, rng.normal(size=n)),
]
ASKED: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("mean", "sum", "std", "var", "skewness", "median", "iqr")),
    *((name, {}) for name in ("min", "max", "huber")),
    *((name, {"clusters": "keep"}) for name in ("mean", "sum")),
    *((name, {"population": True}) for name in ("mean", "std")),
    *((name, {"trim": 0.1}) for name in ("trimmed_mean", "winsorized_mean")),
    ("quantile", {"q": 0.9}),
    ("quantiles", {"q": [0.25, 0.5, 0.9]}),
    ("expectile", {"tau": 0.7}),
    ("describe", {}),
]


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 9))]
)
def test_there_is_no_error_after_the_charge(part: int) -> None:
    rng = np.random.default_rng(part)
    answered = 0
    for i in range(300):
        n = int(10 ** rng.uniform(0, 4))
        x = COLUMNS[rng.integers(len(COLUMNS))](rng, n)
        persons, groups = rng.integers(0, max(n // 3, 1), n), rng.integers(0, 40, n)
        table = pd.DataFrame({"x": x, "p": persons, "g": groups})
        pure = rng.random() < 0.5
        cost = (
            {"epsilon": 10 ** rng.uniform(-2, 2)} if pure else {"rho": 10 ** rng.uniform(-3, 1.5)}
        )
        unit = mo.unit_of("p") if rng.random() < 0.3 else None
        name, options = ASKED[rng.integers(len(ASKED))]
        within = {"within": (-10, 10)} if rng.random() < 0.4 and name != "describe" else {}
        budget = mo.pure(1000) if pure else mo.zcdp(1000)
        curator = mo.Curator(table, budget=budget, unit=unit, entropy=SeededEntropy(f"{part} {i}"))
        asked = curator
        if name != "describe" and rng.random() < 0.25:
            asked = curator.group_by("g", keys=range(40))
        try:
            found = getattr(asked, name)(
                ["x"] if name == "describe" else "x", **options, **within, **cost
            )
        except ModicumError:
            assert curator.spent.amount == 0, (name, options, n, cost)
            continue
        assert found.to_json()
        assert str(found)
        answered += 1
    assert answered > 200
