"""Released counts as marginals: which cell is which, their noise, and what mbi makes of them."""

import dataclasses
import sys
import types
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.interop.mbi import marginals, to_mbi

RNG = np.random.default_rng(8)
ROWS = 20_000
SEX = RNG.choice(["f", "m"], ROWS, p=[0.6, 0.4])
TABLE = pd.DataFrame(
    {
        "sex": SEX,
        "plan": np.where(SEX == "f", RNG.integers(1, 4, ROWS), RNG.integers(1, 3, ROWS)),
        "age": RNG.integers(20, 80, ROWS),
    }
)
KEYS = {"sex": ["m", "f"], "plan": [3, 1, 2]}
EDGES = [20, 40, 60, 80]
BINS = ((20.0, 40.0), (40.0, 60.0), (60.0, 80.0))


@pytest.fixture(scope="module")
def releases() -> dict[str, Any]:
    curator = mo.Curator(TABLE, budget=mo.pure(20))
    by_sex = curator.group_by("sex", keys=KEYS["sex"])
    return {
        "cells": curator.group_by("sex", "plan", keys=KEYS).count(epsilon="0.5"),
        "sexes": by_sex.count(epsilon=2),
        "ages": curator.histogram("age", edges=EDGES, epsilon=1),
        "ages by sex": by_sex.histogram("age", edges=EDGES, epsilon=1),
    }


def test_cells_are_in_the_order_of_their_labels(releases) -> None:
    found = marginals(releases["cells"], releases["ages"], releases["ages by sex"])
    assert found.labels == {"sex": ("m", "f"), "plan": (3, 1, 2), "age": BINS}
    cells, ages, both = found.measurements
    assert [each.attributes for each in found.measurements] == [
        ("sex", "plan"), ("age",), ("sex", "age")
    ]  # fmt: skip
    truth = [
        ((TABLE.sex == sex) & (TABLE.plan == plan)).sum()
        for sex in KEYS["sex"]
        for plan in KEYS["plan"]
    ]
    assert cells.values == pytest.approx(truth, abs=40)
    bins = [TABLE.age.between(*each, inclusive="left") for each in BINS]
    assert ages.values == pytest.approx([each.sum() for each in bins], abs=20)
    assert both.values == pytest.approx(
        [(each & (TABLE.sex == sex)).sum() for sex in KEYS["sex"] for each in bins], abs=20
    )


def test_noise_is_not_cut_and_its_deviation_is_that_of_the_law() -> None:
    table = pd.DataFrame({"k": [0]})
    keys = range(1, 5000)
    release = mo.Curator(table, budget=mo.pure(1)).group_by("k", keys=keys).count(epsilon="0.5")
    (found,) = marginals(release).measurements
    values = np.array(found.values)
    assert np.abs(values.mean()) < 5 * found.stddev / np.sqrt(len(values))
    assert values.std() == pytest.approx(found.stddev, rel=0.1)
    assert found.stddev == pytest.approx(np.sqrt(8), rel=0.02)  # 30 % less would be 2


def test_rho_has_gaussian_noise() -> None:
    curator = mo.Curator(TABLE, budget=mo.zcdp(1))
    (found,) = marginals(curator.histogram("age", edges=EDGES, rho="0.02")).measurements
    assert found.stddev == pytest.approx(5)


def test_what_is_no_marginal(releases) -> None:
    curator = mo.Curator(TABLE, budget=mo.approx(30, "1e-6"))
    by_sex = curator.group_by("sex", keys=["f", "m"])
    drawn = curator.group_by("sex", key_budget=mo.approx(1, "1e-7"))
    pairs = curator.group_by("sex", "plan", keys=[("f", 1), ("m", 2)])
    unnamed = mo.histogram(TABLE.age.to_numpy(), edges=EDGES, epsilon=1)
    person = mo.Curator(TABLE, unit=mo.unit_of("age"), budget=mo.pure(2))
    for release, words in (
        (curator.count(epsilon=1), "got a count"),
        (TABLE, "got a DataFrame"),
        (curator.quantiles("age", q=[0.5], epsilon=1), "got a quantiles"),
        (by_sex.mean("age", epsilon=1), "not of a mean"),
        (drawn.count(epsilon=1), "keys were drawn"),
        (pairs.count(epsilon=1), "all combinations"),
        (unnamed, "has no name"),
        (person.group_by("sex", keys=["f", "m"]).count(epsilon=2), "counts of rows"),
    ):
        with pytest.raises(mo.InvalidArgument, match=words):
            marginals(release)
    with pytest.raises(mo.InvalidArgument, match="different labels of 'sex'"):
        marginals(releases["sexes"], by_sex.count(epsilon=1))
    with pytest.raises(mo.InvalidArgument, match="at least one"):
        marginals()


@pytest.fixture
def stub(monkeypatch) -> None:
    """The documented interface of mbi 2.0, as far as it is used."""

    @dataclasses.dataclass(frozen=True)
    class Domain:
        attributes: tuple
        shape: tuple
        labels: tuple | None = None

    @dataclasses.dataclass(frozen=True)
    class LinearMeasurement:
        noisy_measurement: Any
        clique: tuple
        stddev: float = 1.0
        query: Any = None

    module = types.SimpleNamespace(Domain=Domain, LinearMeasurement=LinearMeasurement)
    monkeypatch.setitem(sys.modules, "mbi", module)


@pytest.mark.usefixtures("stub")
def test_the_inputs_of_mbi(releases) -> None:
    domain, measurements = to_mbi(releases["cells"], releases["ages"])
    assert (domain.attributes, domain.shape) == (("sex", "plan", "age"), [2, 3, 3])
    assert domain.labels == (("m", "f"), (3, 1, 2), BINS)
    cells, ages = measurements
    assert (cells.clique, ages.clique) == (("sex", "plan"), ("age",))
    assert cells.noisy_measurement.shape == (6,)
    assert cells.stddev > ages.stddev


def test_without_mbi_it_says_what_to_install(releases, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(mo.InvalidArgument, match=r"pip install mbi"):
        to_mbi(releases["cells"])


@pytest.mark.skipif(find_spec("mbi") is None, reason="pip install 'mbi>=2' (make test-mbi does)")
@pytest.mark.filterwarnings("ignore")
def test_mbi_fits_all_marginals_together(releases) -> None:
    import jax  # noqa: PLC0415
    from mbi import estimation  # noqa: PLC0415

    jax.config.update("jax_enable_x64", True)
    domain, measurements = to_mbi(*releases.values())
    model = estimation.MirrorDescent().estimate(domain, measurements, iters=5000)
    for each in measurements:
        fitted = np.asarray(model.project(each.clique).datavector())
        assert np.abs(fitted - each.noisy_measurement).max() < 12 * each.stddev
    sexes = model.project(("sex",)).datavector()
    truth = [(TABLE.sex == sex).sum() for sex in KEYS["sex"]]
    assert np.asarray(sexes) == pytest.approx(truth, abs=20)
    assert model.synthetic_data(rows=1000).records == 1000
