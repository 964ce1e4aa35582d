"""Expressions: DuckDB's answers row by row, values that could make them fail, and refusals."""

import re
import unicodedata
import warnings

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import modicum as mo
from modicum.privacy.unit import Unit
from modicum.sources.conditions.expressions import FUNCTIONS, Leaf, parse
from modicum.sources.conditions.view import View
from modicum.sources.opening import open_source
from modicum.sources.viewed import view_of

NAN = float("nan")
RNG = np.random.default_rng(7)
ROWS = 400


def nullable(values: list, missing: float = 0.1) -> list:
    return [None if RNG.random() < missing else value for value in values]


TABLE = pa.table(
    {
        "x": pa.array(nullable(RNG.integers(-3, 4, ROWS).tolist()), pa.int64()),
        "y": pa.array(nullable(RNG.normal(size=ROWS).round(1).tolist()), pa.float64()),
        "b": pa.array(nullable((RNG.random(ROWS) < 0.5).tolist()), pa.bool_()),
        "s": pa.array(nullable(RNG.choice(["North", "South", "Nor"], ROWS).tolist())),
        "d": pa.array(
            nullable(
                RNG.choice(np.arange("1960-02-01", "2026-02-01", dtype="M8[D]"), ROWS).tolist()
            ),
            pa.date32(),
        ),
        "i": pa.array(range(ROWS)),
    }
)
CONNECTION = duckdb.connect()
CONNECTION.register("t", TABLE)


def evaluated(text: str, table=TABLE) -> np.ndarray:
    """The values of an expression, in the order of the rows."""
    view = view_of(open_source(table), View(None, (("it", text),)), Unit())
    chunks = list(view.chunks(["it", "i"]))
    found, order = (np.concatenate([chunk[name] for chunk in chunks]) for name in ("it", "i"))
    return found[np.argsort(order)]


def in_sql(text: str) -> np.ndarray:
    rows = CONNECTION.execute(f"select cast({text} as double) from t order by i").fetchall()
    return np.array([NAN if row[0] is None else row[0] for row in rows], dtype=np.float64)


# What is written alike in both languages.
ALIKE = [
    "x + 2 * y - 1",
    "-x",
    "x > y",
    "x >= 1 and y < 0",
    "x >= 1 or y < 0",
    "not (x >= 1) or b",
    "not b and not (x = 2)",
    "x <> 1",
    "x in (1, 2, -3)",
    "x not in (1, 2)",
    "s in ('North', 'East')",
    "s not in ('North', 'East') or x > 0",
    "s = 'North' and x > 0",
    "s <> 'North'",
    "d >= '2000-01-31'",
    "d < '1970-01-01' and b",
    "abs(x)",
    "floor(y)",
    "ceil(y)",
    "sqrt(abs(y))",
    "exp(y)",
    "x / 2",
]
# As this language writes it, and as SQL does.
UNLIKE = {
    "1 / x": "1 / nullif(x, 0)",
    "y / 0": "null",
    "x // 2": "floor(x / 2)",
    "x % 3": "x - 3 * floor(x / 3)",
    "x ** 2": "power(x, 2)",
    "log(y)": "ln(case when y > 0 then y end)",
    "log10(y)": "log10(case when y > 0 then y end)",
    "log2(y)": "log2(case when y > 0 then y end)",
    "min(x, y, 0)": "case when x is null or y is null then null else least(x, y, 0) end",
    "max(x, y)": "case when x is null or y is null then null else greatest(x, y) end",
    "clip(x, -1, 1)": "case when x is null then null else least(greatest(x, -1), 1) end",
    "where(x > 0, y, -1)": "case when x > 0 then y else -1 end",
    "where(b, 1, 2)": "case when b then 1 else 2 end",
    "fill(x, 9)": "coalesce(x, 9)",
    "missing(x)": "x is null",
    "missing(s)": "s is null",
    "missing(1 / x)": "x is null or x = 0",
    "not missing(d) and x > 0": "d is not null and x > 0",
    "-1 <= x < 2": "x between -1 and 1",
    "x == 1": "x = 1",
    "'North' == s": "s = 'North'",
    "'2000-01-31' <= d": "d >= date '2000-01-31'",
    "d > '2000-01-31T12:00+01:00'": "d > timestamp '2000-01-31 11:00'",
    "starts_with(s, 'Nor')": "starts_with(s, 'Nor')",
    "ends_with(s, 'th')": "ends_with(s, 'th')",
    "contains(s, 'ou', 'xx')": "contains(s, 'ou')",
    "year(d)": "year(d)",
    "month(d)": "month(d)",
    "day(d)": "day(d)",
    "weekday(d)": "isodow(d)",
    "col('x') + (s == 'North') * 10": "x + cast(s = 'North' as int) * 10",
    "True and b": "b",
    "round(y)": "round_even(y, 0)",
    "round(y * 1.23, 1)": "round_even(y * 1.23, 1)",
}


@pytest.mark.parametrize("text", ALIKE)
def test_it_is_as_in_sql(text: str) -> None:
    ours = text.replace(" = ", " == ").replace("<>", "!=")
    assert np.allclose(evaluated(ours), in_sql(text), rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("text", UNLIKE)
def test_it_is_as_written_otherwise_in_sql(text: str) -> None:
    assert np.allclose(evaluated(text), in_sql(UNLIKE[text]), rtol=1e-12, equal_nan=True)


def test_every_function_is_compared() -> None:
    compared = " ".join([*ALIKE, *UNLIKE])
    assert all(f"{name}(" in compared for name in FUNCTIONS)


BOOLEAN = st.recursive(
    st.sampled_from(["x > 0", "y < 0", "b", "s == 'North'", "d < '1990-01-01'", "x == y"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({' '.join(t)})"),
        inner.map(lambda text: f"(not {text})"),
    ),
    max_leaves=8,
)


@given(BOOLEAN)
def test_three_valued_logic_is_that_of_sql(text: str) -> None:
    sql = text.replace("==", "=")
    assert np.array_equal(evaluated(text), in_sql(sql), equal_nan=True)
    view = view_of(open_source(TABLE), View(text), Unit())
    kept = sum(len(chunk[None]) for chunk in view.chunks([None]))
    assert kept == CONNECTION.execute(f"select count(*) from t where {sql}").fetchone()[0]


# Nothing in a table can make an expression fail, or say anything.
EXTREME = [NAN, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, 2.0**53, 0.5]
RISKY = [
    "x / y", "x // y", "x % y", "x ** y", "x * y", "x - y", "x + y", "exp(x)", "log(x)", "log2(x)",
    "log10(x)", "sqrt(x)", "round(x, y)", "floor(x)", "ceil(x)", "clip(x, y, 1)", "abs(x)", "-x",
    "where(x, y, 1)", "x in [y, 1]", "not x", "x and y", "x or y", "fill(x, y)", "min(x, y)",
]  # fmt: skip


@pytest.mark.parametrize("text", RISKY)
def test_no_value_makes_it_fail(text: str) -> None:
    x, y = (side.ravel() for side in np.meshgrid(EXTREME, EXTREME))
    table = pa.table({"x": x, "y": y, "i": np.arange(len(x))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluated(text, table)
    assert len(found) == len(x)
    # What a row becomes does not depend on the others.
    for place in range(0, len(x), 7):
        alone = evaluated(text, table.slice(place, 1))
        assert np.array_equal(alone, found[place : place + 1], equal_nan=True)


def test_division_and_logarithms_of_nothing_are_missing() -> None:
    columns = {Leaf("x"): np.array([0.0, -1.0, 4.0])}
    for text, expected in {
        "1 / x": [NAN, -1, 0.25],
        "x % x": [NAN, 0, 0],
        "log(x)": [NAN, NAN, np.log(4)],
        "sqrt(x)": [0, NAN, 2],
        "x ** -0.5": [NAN, NAN, 0.5],
    }.items():
        with np.errstate(all="ignore"):
            found = parse(text).evaluate(columns, 3)
        assert np.array_equal(found, np.array(expected, dtype=float), equal_nan=True), text


FRAME = pd.DataFrame(
    {"age": [1.0], "region": ["a"], "day": pd.to_datetime(["2020-01-01"]), "a b": [1], "z": [1j]}
)


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("age >", mo.InvalidArgument, "not an expression"),
        ("", mo.InvalidArgument, "not an expression"),
        ("a b > 1", mo.InvalidArgument, "col('a b')"),
        ("a.b > 1", mo.InvalidArgument, "col('a.b')"),
        ("agee > 1", mo.MissingColumn, "did you mean 'age'"),
        ("region > 3", mo.UnsupportedData, "region == 'some text'"),
        ("region", mo.UnsupportedData, "region == 'some text'"),
        ("age == 'x'", mo.UnsupportedData, "age >= 18"),
        ("starts_with(age, 'x')", mo.UnsupportedData, "age >= 18"),
        ("day == '2020-01-01'", mo.UnsupportedData, "day >= '2026-01-31'"),
        ("day > 3", mo.UnsupportedData, "day >= '2026-01-31'"),
        ("year(age) > 3", mo.UnsupportedData, "age >= 18"),
        ("region < 'b'", mo.InvalidArgument, "compared by =="),
        ("day < '2020-13-01'", mo.InvalidArgument, "it is no date"),
        ("day < '0001-01-01T00:00+14:00'", mo.InvalidArgument, "it is no date"),
        ("z > 1", mo.UnsupportedData, "complex"),
        ("age & 1", mo.InvalidArgument, "write and, or, not"),
        ("~age", mo.InvalidArgument, "write and, or, not"),
        ("age is None", mo.InvalidArgument, "missing"),
        ("age == None", mo.InvalidArgument, "missing(column)"),
        ("age > 1j", mo.InvalidArgument, "no part"),
        ("age > " + "9" * 400, mo.InvalidArgument, "too large"),
        ("age in 3", mo.InvalidArgument, "a list such as"),
        ("age in []", mo.InvalidArgument, "a list such as"),
        ("1 > 0", mo.InvalidArgument, "no column"),
        ("'a' == 'b'", mo.InvalidArgument, "here comes a column"),
        ("age + 'b'", mo.InvalidArgument, "compared with a column"),
        ("loog(age)", mo.InvalidArgument, "did you mean 'log'"),
        ("min(age)", mo.InvalidArgument, "write min(x, y, ...)"),
        ("round(age, digits=2)", mo.InvalidArgument, "no names"),
        ("__import__('os').system('true')", mo.InvalidArgument, "no function"),
        ("age.__class__", mo.InvalidArgument, "not understood"),
        ("(lambda: age)()", mo.InvalidArgument, "no function"),
        ("[a for a in age]", mo.InvalidArgument, "no part"),
        ("age[0]", mo.InvalidArgument, "no part"),
        ("(x := age)", mo.InvalidArgument, "no part"),
        ("age if region else 1", mo.InvalidArgument, "no part"),
        ("f'{age}'", mo.InvalidArgument, "no part"),
        ("x" * 20_000, mo.InvalidArgument, "10,000 characters"),
        ("not " * 500 + "age", mo.InvalidArgument, "nested"),
        ("-" * 5000 + "age", mo.InvalidArgument, "is not an expression"),
        ("age\0", mo.InvalidArgument, "not an expression"),
        (5, mo.InvalidArgument, "must be text"),
    ],
)
def test_what_is_no_expression_is_refused_before_anything_is_read(text, error, told) -> None:
    curator = mo.Curator(FRAME, budget=mo.pure(1))
    with pytest.raises(error, match=re.escape(told)):
        curator.where(text)
    assert curator.remaining == mo.pure(1)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("age > 3 AND age < 5", "in small letters"),
        ("NOT age > 3", "in small letters"),
        ("age > 3 && age < 4", "write and, or in place of &&, ||"),
        ("age IS NULL", "missing(column) or not missing(column)"),
        ("age is not null", "missing(column) or not missing(column)"),
        ("age == None", "missing(column) or not missing(column)"),
        ("region LIKE 'a%'", "contains(column, 'text')"),
        ("`age` > 3", "without `"),
        ("age <> 3", "not equal is !="),
        ("!age", "! is written not"),
        ("age between 3 and 5", "18 <= age <= 65"),
        ("age > 3 and los days < 10", "col('los days')"),
        ("date > '2024-13-01'", "it is no date; write year, month and day"),
        ("date > '31.01.2024'", "it is no date; write year, month and day"),
    ],
)
def test_what_is_meant_by_other_languages(text: str, hint: str) -> None:
    with pytest.raises(mo.InvalidArgument) as caught:
        parse(text)
    assert hint in str(caught.value)


def test_texts_in_quotes_give_no_hints() -> None:
    with pytest.raises(mo.InvalidArgument) as caught:
        parse("region == 'a AND b' 'LIKE `x` && <>' 5")
    assert str(caught.value).endswith(
        "; a column whose name is not a plain word is written col('its name')"
    )


def test_dates_and_made_columns_of_text(tmp_path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("day,region\n2024-01-31,North\n")
    whole = mo.Curator(path, budget=mo.pure(9))
    with pytest.raises(
        mo.UnsupportedData, match=r"CSV file is text.*starts_with\(day, '2026-01'\)"
    ):
        whole.where("day >= '2024-01-01'")
    typed = mo.Curator(pd.read_csv(path), budget=mo.pure(9))
    with pytest.raises(mo.UnsupportedData, match=r"date in text is no date.*starts_with\(day"):
        typed.where("day >= '2024-01-01'")
    with pytest.raises(mo.UnsupportedData, match="a made column such as 'north' holds numbers"):
        typed.with_columns(north="region")


LOOKING_ALIKE = [
    ("µg", "μg"),
    ("größe", unicodedata.normalize("NFD", "größe")),
    ("ａ", "a"),
    ("nª", "na"),
    ("\N{OHM SIGN}", "Ω"),
    ("ﬁles", "files"),
    ("xᵃ", "xa"),
    ("\N{ANGSTROM SIGN}", "Å"),
    ("ℎ", "h"),
    ("аge_of_patient", "age_of_patient"),  # the first begins with a letter of Cyrillic
]


@pytest.mark.parametrize("both", LOOKING_ALIKE)
def test_a_column_is_the_one_whose_name_is_written(both: tuple[str, str]) -> None:
    low, high = np.arange(600.0), np.arange(600.0) + 300
    for one, two in (both, both[::-1]):
        table = pd.DataFrame({one: low, two: high})
        for text in (
            f"{one} < 300",
            f"(\n {two} >= 300 and\n\r 0 <= {one} < 300)",
            f"{one}+0 < 300",
        ):
            kept = mo.Curator(table, budget=mo.pure(99)).where(text).count(epsilon=99)
            assert kept.value == 300
        made = mo.Curator(table, budget=mo.pure(99)).with_columns(y=f"{two} - {one}")
        assert made.mean("y", within=(0, 999), epsilon=99).value == pytest.approx(300, abs=1)
        with pytest.raises(mo.MissingColumn, match=r"did you mean .*\(with U\+.* in place of U\+"):
            mo.Curator(table[[one]], budget=mo.pure(1)).where(f"{two} < 300")
