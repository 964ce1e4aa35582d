"""A release of several numbers: labels, intervals, tables, text, and how it is asked for."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import modicum as mo
from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.releases.array_release import ArrayEstimate, Axis, Intervals
from modicum.releases.status import OK
from modicum.runtime.query import Query

DATA = np.random.default_rng(1).lognormal(10, 1, 30_000)
WITHIN = (-1e9, 1e9)
QS = [0.25, 0.5, 0.75]


def released(name: str, table=DATA, **arguments) -> mo.ArrayRelease:
    curator = mo.Curator(table, budget=mo.zcdp(100), entropy=SeededEntropy("r"))
    return getattr(curator, name)(**arguments)


RELEASES = {
    "quantiles": released("quantiles", q=QS, within=WITHIN, epsilon=1),
    "no interval": released("quantiles", q=QS, within=WITHIN, rho="0.5", level=None),
    "histogram": released("histogram", edges=[0, 1e4, np.inf], epsilon=1),
    "cdf": released("cdf", points=np.arange(100) * 1000.0, rho="0.1"),
}


@pytest.fixture(params=RELEASES, ids=list(RELEASES))
def release(request) -> mo.ArrayRelease:
    return RELEASES[request.param]


def test_it_is_an_array(release) -> None:
    assert len(release) == len(list(release)) == len(release.labels) == release.shape[0]
    assert np.asarray(release).tolist() == release.values.tolist() == list(release)
    assert release[0] == release.values[0]
    assert isinstance(release[0], float)
    assert release[:2].tolist() == release.values[:2].tolist()
    assert np.asarray(release, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        release.values[0] = 1.0
    with pytest.raises(TypeError, match="numbers were released"):
        float(release)
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(release, copy=False)


def test_intervals_are_arrays_and_grow_with_the_level(release) -> None:
    lower, upper = release.interval()
    assert lower.shape == upper.shape == release.shape
    assert (lower <= release.values).all()
    assert (release.values <= upper).all()
    wide = release.interval(level=0.999)
    assert (wide.lower <= lower).all()
    assert (upper <= wide.upper).all()
    with pytest.raises(mo.InvalidArgument, match="level"):
        release.interval(1.5)
    with pytest.raises(mo.InvalidArgument, match="tail"):
        release.interval(tail=0)


def test_json_text_and_pickle(release) -> None:
    record = json.loads(release.to_json())
    assert record["schema"] == "modicum.array/2"
    assert record["values"] == release.values.tolist()
    assert record["lower"] == release.interval().lower.tolist()
    key = "rho_exact" if "rho_exact" in record else "epsilon_exact"
    spent = sum(Fraction(entry[key]) for entry in record["transcript"])
    assert spent == Fraction(record[key])
    assert pickle.loads(pickle.dumps(release)) == release
    card = str(release)
    assert "simultaneous" in card
    assert "test entropy, not private" in card
    assert card in release.explain()
    assert repr(release).startswith("ArrayRelease(")
    if len(release) > 30:
        assert "frame() has all" in card


def test_infinite_labels_are_text_in_json() -> None:
    (axis,) = json.loads(RELEASES["histogram"].to_json())["axes"]
    assert axis == {"left": [0.0, 1e4], "right": [1e4, "inf"]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_frame_is_one_of_the_datas_library(frame) -> None:
    found = released("quantiles", frame({"x": DATA}), column="x", q=QS, within=WITHIN, epsilon=1)
    table = found.frame()
    assert isinstance(table, frame)
    assert list(table.columns) == ["q", "value", "lower", "upper"]
    assert list(table["q"]) == QS
    assert list(table["value"]) == list(found)


class Even:
    """Error model of any shape."""

    condition = ""

    def intervals(self, level: float, tail: float | None) -> Intervals:
        return Intervals(np.zeros(6) - np.inf, np.ones(6))

    def assumption(self, tail: float | None) -> str:
        return "nothing"

    def to_dict(self) -> dict[str, object]:
        return {}


def test_two_axes() -> None:
    """As coefficients of several outcomes would be."""
    one = RELEASES["cdf"]
    names = ("statistic", "column", "event", "unit", "lattice", "ranged", "method", "transcript")
    more = ("engine", "account", "private", "version", "stated", "left_out")
    axes = (Axis.of(feature=("a", "b")), Axis.of(outcome=("x", "y", "z")))
    answer = ArrayEstimate(tuple(Fraction(i) for i in range(6)), axes, Even(), OK)
    found = answer.released(**{name: getattr(one, name) for name in (*names, *more)})
    assert found.shape == (2, 3)
    assert found[1].tolist() == [3, 4, 5]
    assert found[1, 2] == 5
    assert [row.tolist() for row in found] == [[0, 1, 2], [3, 4, 5]]
    assert found.interval().lower.min() > -np.inf
    assert found.frame()[4] == {
        "feature": "b", "outcome": "y", "value": 4.0, "lower": -1.7976931348623157e308, "upper": 1.0
    }  # fmt: skip
    assert "  feature  outcome" in found.summary()
    assert found.facts()["values"] == [[0, 1, 2], [3, 4, 5]]


def test_the_card_says_what_was_given_and_which_law_answered() -> None:
    """Cuts imply a range for the rounding, but nobody gave one."""
    for name in ("cdf", "histogram"):
        assert "  range" not in RELEASES[name].summary()
        assert RELEASES[name].within is None
        assert json.loads(RELEASES[name].to_json())["within"] is None
    card = RELEASES["quantiles"].summary()
    assert "  method         joint" in card
    assert "  range          -1 billion to 1 billion, given" in card
    assert card.splitlines()[1].split() == [
        "q",
        "value",
        "95",
        "%",
        "interval,",
        "simultaneous",
    ]
    few = released("quantiles", np.arange(20.0), q=QS, within=WITHIN, epsilon=1)
    assert few.method == "nested"


def test_one_number_is_one_number() -> None:
    for asked in ({"q": [0.5], "within": WITHIN}, {"edges": [0, 1e9]}):
        name = "quantiles" if "q" in asked else "histogram"
        card = released(name, **asked, epsilon=1).summary()
        assert card.startswith(f"{name} of array: 1 number\n")
        assert "95 % interval\n" in card
    few = released("quantiles", np.arange(5.0), q=[0.5], within=WITHIN, epsilon="0.1")
    assert "so many" not in few.status != "ok"


def test_a_coarse_step_is_told() -> None:
    """The noise does not cover what rounding moves over an edge."""
    for name, asked in (
        ("histogram", {"edges": [0, 512.0, 2048]}),
        ("cdf", {"points": [512.0]}),
        ("histogram", {"bins": 2, "within": (0, 1e4)}),
    ):
        coarse = released(name, **asked, epsilon=1, step=256)
        assert "for values and cuts rounded to multiples of 256" in coarse.summary()
        usual = released(name, **asked, epsilon=1)
        assert "rounded" not in usual.summary()
        assert "rounded to multiples of" in usual.explain()


def test_kinds_of_release_go_together() -> None:
    curator = mo.Curator(DATA, budget=mo.pure(3), entropy=SeededEntropy("t"))
    asked = ask.quantiles(q=QS, within=WITHIN, epsilon=1)
    assert isinstance(asked, Query)
    found = curator.release(
        spread=asked,
        typical=ask.mean(within=WITHIN, epsilon=1),
        ages=ask.cdf(points=[1], epsilon=1),
    )
    kinds = [type(each) for each in found.values()]
    assert kinds == [mo.ArrayRelease, mo.Release, mo.ArrayRelease]
    assert curator.remaining.amount == 0


def test_groups_are_asked_for_one_column() -> None:
    table = pd.DataFrame({"g": ["a"] * 50, "x": range(50)})
    curator = mo.Curator(table, budget=mo.pure(3))
    groups = curator.group_by("g", keys=["a"])
    vectors = ("mean_vector", "clipped_mean_vector", "covariance", "pca")
    for name in (*vectors, "linear_regression", "vector_statistic"):
        with pytest.raises(mo.InvalidArgument, match=f"{name} takes several together"):
            getattr(groups, name)(["x"], within=(0, 1), epsilon=1)
    assert curator.spent.amount == 0


def test_functions_are_documented_as_what_they_return() -> None:
    for function in (mo.quantiles, mo.Curator.quantiles):
        assert "ArrayRelease\n    Guarantee: " in function.__doc__
        assert "Query" not in function.__doc__
        assert function.__annotations__ is not None
