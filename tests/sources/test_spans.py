"""[view.5] Spans hold every value; what they are; that they stand for a range that is given."""

import math
import random
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.sources.conditions.expressions import FUNCTIONS, parse
from modicum.sources.conditions.view import View
from modicum.sources.opening import open_source
from modicum.sources.spans import ANY, TRUTH, Span, declared
from modicum.sources.viewed import LocalView

INF = math.inf
EXTREME = [
    *(0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.5, 2.0, 3.0, -3.0, 7.5, 99.9, -255.0, 1e5, 5e-324),
    *(1e-300, 2.0**52 + 0.5, 2.0**53 + 2, -(2.0**63), 1e16, 1e300, -1e300, 1.7e308, INF, -INF),
    math.nan,
]
RNG = random.Random(11)
READS = re.compile(r"\b[xyub]\b")
CONSTANTS = ["0", "1", "2", "3", "0.5", "10", "0.1", "1e-3", "7", "100", "1e6", "1e300", "255"]


def drawn_number(depth: int) -> str:
    if depth == 0:
        return RNG.choice(["x", "y", "u", "b", *CONSTANTS])
    part = [drawn_number(RNG.randrange(depth)) for _ in range(3)]
    ways = [
        *(f"({part[0]} {sign} {part[1]})" for sign in ("+", "-", "*", "/", "//", "%")),
        f"({part[0]} ** {RNG.choice(['2', '3', '0.5', '-1', '0', part[1]])})",
        *(f"{name}({part[0]})" for name in ("abs", "ceil", "floor", "exp", "sqrt", "log", "log2")),
        f"log10({part[0]})",
        f"round({part[0]})",
        f"round({part[0]}, {RNG.choice(['1', '-1', '2', '0', part[1]])})",
        f"clip({part[0]}, {RNG.choice(['-1', '0', part[1]])}, {RNG.choice(['1', '9', part[2]])})",
        f"min({part[0]}, {part[1]})",
        f"max({part[0]}, {part[1]}, {part[2]})",
        f"where({drawn_truth(depth - 1)}, {part[0]}, {part[1]})",
        f"fill({part[0]}, {part[1]})",
        f"-{part[0]}",
        f"+{part[0]}",
        drawn_truth(depth - 1),
    ]
    return RNG.choice(ways)


def drawn_truth(depth: int) -> str:
    a, b = drawn_number(max(depth - 1, 0)), drawn_number(max(depth - 1, 0))
    ways = [
        *(f"({a} {sign} {b})" for sign in ("<", "<=", ">", ">=", "==", "!=")),
        f"({RNG.choice(CONSTANTS)} <= x <= {RNG.choice(CONSTANTS)})",
        f"(x in [{RNG.choice(CONSTANTS)}, {RNG.choice(CONSTANTS)}, -1])",
        f"(y not in [{RNG.choice(CONSTANTS)}, 3])",
        f"missing({a})",
    ]
    if depth > 0:
        parts = drawn_truth(depth - 1), drawn_truth(depth - 1)
        ways += [f"({parts[0]} {word} {parts[1]})" for word in ("and", "or", "and", "and")]
        ways.append(f"(not {parts[0]})")
    return RNG.choice(ways)


def table() -> dict[str, np.ndarray]:
    rows = [(x, y) for x in EXTREME for y in EXTREME]
    x, y = (np.array(each) for each in zip(*rows, strict=True))
    narrow = np.arange(len(rows)) % 256
    return {"x": x, "y": y, "u": narrow.astype(np.uint8), "b": narrow % 3 == 0}


ENGINES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def values_of(source, name: str) -> np.ndarray:
    found = np.concatenate([chunk[name] for chunk in source.chunks([name])])
    return found[~np.isnan(found)]


def outside(values: np.ndarray, span: Span) -> np.ndarray:
    beyond = values[(values < span.lo) | (values > span.hi)]
    fractions = values[np.isfinite(values) & (values != np.floor(values))]
    return beyond if len(beyond) or not span.whole else fractions


@pytest.mark.parametrize("seed", range(6))
def test_no_value_of_any_expression_is_outside(seed: int) -> None:
    """Random expressions, also of random conditions, on all pairs of extreme values."""
    RNG.seed(seed)
    engine = [*ENGINES][seed % 3]
    source, told = open_source(ENGINES[engine](table())), 0
    for _ in range(150):
        view = source
        condition, made = drawn_truth(3), drawn_number(3)
        if RNG.random() < 0.7 and READS.search(condition):
            view = LocalView(view, View(condition))
        if READS.search(made):
            view = LocalView(view, View(None, (("z", made),)))
        for name in ("x", "y", "u", "b", "z"):
            if name in view.names:
                span = view.span(name)
                values = values_of(view, name)
                assert not len(outside(values, span)), (condition, made, name, span)
                told += name in "xyz" and span.usable
    assert told > 20  # and they say something


def test_constants_are_those_of_the_type() -> None:
    """0.1 stands for the float32 nearest to it where it is compared with one, which is larger."""
    tenth = np.float32(0.1)
    table = pa.table({"f": pa.array([0.0, tenth, 0.5], pa.float32())})
    chosen = LocalView(open_source(table), View("0 <= f and f <= 0.1"))
    assert chosen.span("f") == Span(0, float(tenth))
    assert float(tenth) in values_of(chosen, "f")


TIMES = [0, 1, -1, 951_782_400_000_000, 4_102_444_800_000_000, -(10**17), 10**17]


def test_parts_of_dates_are_within_theirs() -> None:
    moments = pa.array(TIMES, pa.timestamp("us"))
    source = open_source(pa.table({"d": moments}))
    for text in ("month(d)", "day(d)", "weekday(d)", "year(d)", "month(d) * 10 + weekday(d)"):
        made = LocalView(source, View(None, (("z", text),)))
        assert not len(outside(values_of(made, "z"), made.span("z"))), text
    assert LocalView(source, View(None, (("z", "month(d)"),))).span("z") == Span(1, 12, True)
    chosen = LocalView(source, View("'1999-12-31' <= d and d < '2030-01-01'"))
    assert LocalView(chosen, View(None, (("z", "year(d)"),))).span("z") == Span(1999, 2030, True)


@pytest.mark.parametrize(
    ("text", "span"),
    {
        "x > 3": TRUTH,
        "x in [1, 2] or missing(y)": TRUTH,
        "where(x > 3, 1, 0)": TRUTH,
        "(x > 3) * (y > 3)": TRUTH,
        "1 - (x > 3)": TRUTH,
        "u % 2": TRUTH,
        "(x > 3) + (y > 3) + b": Span(0, 3, True),
        "clip(x, 0, 10)": Span(0, 10),
        "min(max(x, -5), 5) / 2": Span(-2.5, 2.5),
        "round(clip(x, 0.2, 9.7))": Span(0, 10, True),
        "u // 60": Span(0, 4, True),
        "abs(u - 100)": Span(0, 155, True),
        "sqrt(u) + fill(clip(x, -1, 1), 99)": Span(-1, 99 + math.sqrt(255)),
        "10 / 4 - min(u, exp(1e6))": Span(-252.5, 2.5),
        "x + 1": ANY,
        "clip(x, 0, y)": ANY,
        "1 / clip(x, 0, 10)": ANY,
        "clip(x, 1, 10) / clip(y, 2, 4)": Span(0.25, 5),
    }.items(),
)
def test_what_is_known_of_an_expression(text: str, span: Span) -> None:
    view = LocalView(open_source(pd.DataFrame(table())), View(None, (("z", text),)))
    assert view.span("z") == span


@pytest.mark.parametrize(
    ("condition", "span"),
    {
        "x >= 0 and x < 120": Span(0, 120),
        "0 <= x <= 120 and y > 3": Span(0, 120),
        "120 > x and not missing(y) and x > 0": Span(0, 120),
        "x in [3, 5, 4]": Span(3, 5, True),
        "x == 7": Span(7, 7, True),
        "(x > 0 and x < 9) or (x > 20 and x <= 30)": Span(0, 30),
        "x == u": Span(0, 255, True),
        "x > 0 and x < u + b": Span(0, 256),
        "not (x < 0) and x < 9": Span(-INF, 9),
        "x > 0 or y > 0": ANY,
        "abs(x) < 9": ANY,
    }.items(),
)
def test_what_follows_from_a_condition(condition: str, span: Span) -> None:
    view = LocalView(open_source(pd.DataFrame(table())), View(condition))
    assert view.span("x") == span
    assert view.span("y", "missing") == TRUTH


def test_every_function_with_bounded_values_is_known() -> None:
    bounded = {"clip", "min", "max", "where", "missing", "month", "day", "weekday"}
    bounded |= {"starts_with", "ends_with", "contains"}
    calls = {
        "missing": "missing(x)",
        **{name: f"{name}(d)" for name in ("month", "day", "weekday")},
        **{name: f"{name}(s, 'a')" for name in ("starts_with", "ends_with", "contains")},
        "clip": "clip(x, 0, 1)",
        "where": "where(x > 1, 2, 3)",
        "min": "max(min(x, 1), 0)",
        "max": "min(max(x, 0), 1)",
    }
    for name in FUNCTIONS.keys() & bounded:
        parsed = parse(calls[name])
        constants = {each: np.float64(each.number) for each in parsed.constants}
        found = parsed.span(
            lambda leaf: ANY if leaf.read in {"number", "time"} else TRUTH, constants
        )
        assert found.usable, name


@pytest.mark.parametrize("name", ["Int8", "int8", "int8[pyarrow]", "TINYINT", "UInt8", "UTINYINT"])
def test_narrow_types_state_a_range(name: str) -> None:
    assert declared(name).usable
    assert declared(name).whole


@pytest.mark.parametrize("name", ["int16", "Int64", "uint32", "double", "decimal(3, 1)", "", "str"])
def test_other_types_state_none(name: str) -> None:
    assert not declared(name).usable


PEOPLE = pd.DataFrame(
    {
        "age": np.r_[np.arange(490) % 90, np.full(10, 999)].astype(float),
        "smoker": (["yes"] + ["no"] * 9) * 50,
        "region": ["N", "S"] * 250,
        "p": np.arange(500) // 2,
    }
)


def asked(unit=None) -> mo.Curator:
    entropy = SeededEntropy("spans")
    return mo.Curator(PEOPLE, unit=unit, budget=mo.pure(1000), entropy=entropy)


def test_a_condition_stands_for_a_range_that_is_given() -> None:
    """README's question, of 500 rows: usable, and as narrow as with the range besides."""
    chosen = asked().where("age >= 0 and age < 120")
    found = [chosen.mean("age", epsilon=1) for _ in range(40)]
    given = [chosen.mean("age", within=(0, 120), epsilon=1) for _ in range(40)]
    assert all(each.usable and each.within == (0, 120) for each in found)
    widths = [np.median([each.interval().half_width for each in some]) for some in (found, given)]
    assert widths[0] < 1.2 * widths[1]
    assert "  range          0 to 120, from the condition" in str(found[0])
    assert (found[0].stated, given[0].stated) == ("the condition", "")


def test_truth_values_have_the_noise_of_their_range() -> None:
    made = asked().with_columns(s="smoker == 'yes'")
    whole = [made.mean("s", epsilon=1) for _ in range(20)]
    assert all(each.usable and each.method == "bounded" for each in whole)
    assert np.median([abs(each.value - 0.1) for each in whole]) < 0.004
    groups = made.group_by("region", keys=["N", "S"]).mean("s", epsilon=1)
    assert groups["S"].method == "bounded"
    assert "its expression" in str(groups["S"])


def test_what_is_given_is_what_is_used() -> None:
    chosen = asked().where("age >= 0 and age < 120")
    wide = chosen.mean("age", within=(-1e6, 1e6), epsilon=1)
    assert (wide.within, wide.stated) == ((-1e6, 1e6), "")
    made = asked().with_columns(s="smoker == 'yes'")
    assert made.mean("s", within=(0, 1), epsilon=1).method == "adaptive"
    assert made.mean("s", clusters="keep", epsilon=1).method == "adaptive"


@pytest.mark.parametrize(
    ("combine", "within", "method"),
    [("sum", None, "adaptive"), ("mean", (0, 1), "adaptive"), (None, (0, 1), "adaptive")],
)
def test_records_of_persons(combine, within, method: str) -> None:
    """A person's sum may be beyond the range of the values."""
    made = asked(mo.unit_of("p", combine=combine)).with_columns(s="smoker == 'yes'")
    found = made.mean("s", epsilon=1)
    assert found.within == within
    assert found.method == method


def test_other_answers_have_it_too(tmp_path) -> None:
    chosen = asked().where("age >= 0 and age < 120")
    for found in (
        chosen.median("age", epsilon=1),
        chosen.sum("age", epsilon=1),
        chosen.quantiles("age", q=[0.1, 0.5], epsilon=1),
        chosen.std("age", epsilon=1),
        chosen.mean_vector(["age"], epsilon=1),
        chosen.group_by("region", keys=["N"]).median("age", epsilon=1)["N"],
        mo.mean(PEOPLE, "age", where="age >= 0 and age < 120", epsilon=1),
        chosen.describe(["age"], epsilon=5).numbers["quartiles age"],
    ):
        assert found.within == (0, 120), found
    table = chosen.crosstab("region", keys=["N", "S"], values="age", epsilon=1)
    assert table.within == (0, 120)
    weighted = chosen.mean("age", weights="p", epsilon=1)
    assert weighted.within == (0, 120)
    assert chosen.sum("age", weights="p", epsilon=1).within is None
    described = asked().with_columns(s="smoker == 'yes'").describe(["s"], epsilon=2)
    assert "quartiles s" not in described.numbers


def test_the_record_tells_and_reads_back() -> None:
    found = asked().where("age >= 0 and age < 120").mean("age", epsilon=1)
    assert mo.Release.from_json(found.to_json()) == found
    assert found.facts()["within_from"] == "the condition"
    assert "0 to 120, from the condition" in found._repr_html_()


def test_a_key_is_of_what_was_asked(tmp_path) -> None:
    """A range that follows from the table's types is no part of the question."""
    url = f"sqlite:///{tmp_path}/budget.db"
    account = mo.Ledger.create(url).open_account("a", mo.pure(2))
    del account
    narrow = pd.DataFrame({"x": np.arange(300, dtype=np.uint8)})
    first = mo.mean(narrow, "x", epsilon=1, ledger=url, account="a", key="k")
    again = mo.mean(narrow.astype(float), "x", epsilon=1, ledger=url, account="a", key="k")
    assert first == again
    assert first.within == (0, 255)


def test_ends_that_nothing_lies_beyond_are_no_surprise() -> None:
    curator = mo.Curator(
        pd.DataFrame({"x": np.full(5000, 120.0)}), budget=mo.pure(9), entropy=SeededEntropy("end")
    )
    assert curator.mean("x", within=(0, 120), epsilon=1).code == "range_end"
    assert curator.where("x >= 0 and x <= 120").mean("x", epsilon=1).code == "ok"
