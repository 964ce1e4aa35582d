"""Which labels are some texts is asked of an engine where it holds text, with the same answer."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum.sources.conditions.expressions import Leaf, Matches
from modicum.sources.engines.arrow import arrow_labels
from modicum.sources.engines.polars import labels_of as polars_labels
from modicum.sources.labels import Dictionary, Presence, Text, coded, label_items

LABELS = ["North", None, "south", "", "North ", "Ä", "Ä", "nan", "None", "5", "North", "\U0001f600"]
ASKED = [
    ("North",),
    ("south", "5", "Ä"),
    ("",),
    ("nan", "None"),
    ("\U0001f600", "\ud83d"),
    ("\udc00",),
    ("�", "North"),
]


def as_view() -> Any:
    try:
        return pa.array(LABELS, pa.string()).cast(pa.string_view())
    except (AttributeError, pa.ArrowNotImplementedError):
        pytest.skip("this PyArrow makes no views")


ENGINES = {
    "string": lambda: arrow_labels(pa.array(LABELS, pa.string())),
    "large string": lambda: arrow_labels(pa.array(LABELS, pa.large_string())),
    "view": lambda: arrow_labels(as_view()),
    "slice": lambda: arrow_labels(pa.array(["x", *LABELS], pa.string()).slice(1)),
    "dictionary": lambda: arrow_labels(pa.array(LABELS, pa.string()).dictionary_encode()),
    "Polars": lambda: polars_labels(pl.Series(LABELS)),
    "categories": lambda: polars_labels(pl.Series(LABELS, dtype=pl.Categorical)),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("texts", ASKED, ids=ascii)
def test_an_engine_finds_the_labels_that_python_finds(engine, texts) -> None:
    expected = [-1 if each is None else each in texts for each in LABELS]
    coder = Matches(Leaf("x", "in", texts))
    assert coded(ENGINES[engine](), coder).tolist() == expected
    assert coder.codes(LABELS).tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_coded_for_those_who_ask_for_labels(engine) -> None:
    assert coded(ENGINES[engine](), Dictionary()).tolist() == Dictionary().codes(LABELS).tolist()
    assert coded(ENGINES[engine](), Presence()).tolist() == Presence().codes(LABELS).tolist()
    assert [*label_items(ENGINES[engine]())] == LABELS
    contains = Matches(Leaf("x", "contains", ("orth",)))
    assert coded(ENGINES[engine](), contains).tolist() == contains.codes(LABELS).tolist()


def test_bytes_that_are_no_text_are_the_same_label_in_both_ways() -> None:
    """They become U+FFFD, as in a CSV file."""
    array = pa.array([b"a\xff", b"b", None], pa.binary()).view(pa.string())
    values = arrow_labels(array)
    assert isinstance(values, Text)
    for texts, expected in ((("a�",), [1, 0, -1]), (("b",), [0, 1, -1])):
        assert coded(values, Matches(Leaf("x", "in", texts))).tolist() == expected


def test_a_condition_chooses_the_same_rows_of_every_engine() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, 5000),
            "region": rng.choice(np.array([*LABELS, "x"], dtype=object), 5000),
            "income": np.round(rng.lognormal(3, 1, 5000), 2),
        }
    )
    tables = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    tables.append(frame.astype({"region": "string[pyarrow]"}))
    for condition in (
        "region == 'North'",
        "region != 'North' and age >= 18",
        "not (region in ['Ä', '5'] or age < 30)",
        "missing(region) or region == ''",
    ):
        counts = [mo.count(table, where=condition, epsilon=1e6).value for table in tables]
        assert len(set(counts)) == 1
        assert 0 < counts[0] < 5000
