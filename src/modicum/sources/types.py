"""Which declared types are numbers, and what to write to convert the others.

Types are known by the names that NumPy, pandas, Polars, Arrow, DuckDB, Spark and Ibis print. They
are public.
"""

from __future__ import annotations

import re
from functools import lru_cache
from keyword import iskeyword

from modicum.errors import UnsupportedData

_NUMBER = re.compile(
    r"(u?int(8|16|32|64|128)?|u?(tiny|small|big|huge)int|u?integer|float(16|32|64)?|halffloat"
    r"|double|bool(ean)?|decimal\d*\(.*\))(\[pyarrow\])?"
)
_DECIMAL = re.compile(r"decimal(\d+)\(\d+, (-?\d+)\).*")  # of Arrow, bits and scale
_DIGITS = {256: 76}  # of its decimals that it writes as text; 38 of the others
_WIDE = re.compile(r"decimal\(precision=(39|[4-9]\d), .*")  # in a file; Polars has none so wide
_LABELS = {
    "object": re.compile(r"object"),
    "text": re.compile(
        r"str(ing)?|(large_)?string(_view)?|(large_)?utf8|varchar|uuid|extension<arrow\.uuid>"
        r"|(large_)?binary(_view)?|fixed_size_binary\[\d+\]|blob"  # the text that bytes are
    ),
    "date": re.compile(r"date(32|64)?(\[(day|ms)\])?"),
    "datetime": re.compile(
        r"datetime(64)?([\[(].*[\])])?|timestamp(_s|_ms|_ns|_ntz| with.*|[\[(].*[\])])?"
    ),
    "labels": re.compile(r"category|categorical(\(.*\))?|enum(\(.*\))?"),
}
_DICTIONARY = re.compile(r"dictionary<values=(.*), indices=\w+, ordered=\w+>")
_KINDS = {
    "date": re.compile(r"date|timestamp|period"),
    "duration": re.compile(r"duration|timedelta|interval($| day| hour| minute| second|\()"),
    "text": re.compile(r"str(?!uct)|large_string|varchar|utf8|[<>]u"),
    "labels": re.compile(r"categor|enum|dictionary"),
    "sparse": re.compile(r"sparse"),
    "complex": re.compile(r"complex"),
    "object": re.compile(r"object"),
    "wide": re.compile(r"float(96|128)|longdouble"),
    "runs": re.compile(r"run_end_encoded"),
    "json": re.compile(r"json|extension<arrow\.json>"),
    "bytes of truth": re.compile(r"extension<arrow\.bool8>"),
    "fields": re.compile(r"struct|row\("),
}
_CATEGORIES = {"text", "labels", "object"}
_LINES = {
    "numpy": {
        "date": '(x - numpy.datetime64("1970-01-01")) / numpy.timedelta64(1, "D")',
        "duration": 'x / numpy.timedelta64(1, "s")',
        "text": 'pandas.to_numeric(x, errors="coerce")',
        "object": 'pandas.to_numeric(x, errors="coerce")',
        "complex": "x.real",
        "wide": "x.astype(float)",
    },
    "pandas": {
        "date": '({0} - pandas.Timestamp("1970-01-01")) / pandas.Timedelta(days=1)',
        "duration": "{0}.dt.total_seconds()",
        "text": 'pandas.to_numeric({0}, errors="coerce")',
        "labels": 'pandas.to_numeric({0}.astype(str), errors="coerce")',
        "sparse": "{0}.sparse.to_dense()",
        "object": 'pandas.to_numeric({0}, errors="coerce")',
        "wide": "{0}.astype(float)",
        "runs": "pyarrow.compute.run_end_decode(pyarrow.chunked_array({0}.array))",
        "json": 'pandas.to_numeric({0}.astype(str), errors="coerce")',
        "bytes of truth": '{0}.astype("bool[pyarrow]")',
        "fields": '{0}.struct.field("FIELD")',
    },
    "polars": {
        "date": '{0}.dt.epoch("s")',
        "duration": "{0}.dt.total_seconds()",
        "text": "{0}.cast(polars.Float64, strict=False)",
        "labels": "{0}.cast(polars.String).cast(polars.Float64, strict=False)",
        "json": "{0}.cast(polars.Float64, strict=False)",
        "fields": '{0}.struct.field("FIELD")',
    },
    "pyarrow": {
        "date": '{0}.cast(pyarrow.timestamp("us")).cast(pyarrow.int64())',
        "duration": "{0}.cast(pyarrow.int64())",
        "text": 'pandas.to_numeric({0}.to_pandas(), errors="coerce")',
        "labels": "{0}.cast({0}.type.value_type)",
        "runs": "pyarrow.compute.run_end_decode({0})",
        "json": 'pandas.to_numeric({0}.cast(pyarrow.string()).to_pandas(), errors="coerce")',
        "bytes of truth": "{0}.cast(pyarrow.bool_())",
        "fields": 'pyarrow.compute.struct_field({0}, "FIELD")',
    },
    "duckdb": {
        "date": "epoch({0})",
        "duration": "epoch({0})",
        "text": "try_cast({0} as double)",
        "labels": "try_cast({0}::varchar as double)",
        "json": "try_cast({0}::varchar as double)",
        "fields": '{0}."FIELD"',
    },
    "spark": {
        "date": "unix_timestamp({0})",
        "text": "try_cast({0} AS double)",
        "fields": "{0}.`FIELD`",
    },
    "ibis": {
        "date": "{0}.epoch_seconds()",
        "text": '{0}.try_cast("float64")',
        "fields": '{0}["FIELD"]',
    },
}
_LINES["dask"] = {
    kind: line.replace("pandas.to_numeric", "dask.dataframe.to_numeric")
    for kind, line in _LINES["pandas"].items()
    if kind != "sparse"
}
_LINES["parquet"] = _LINES["polars"]
_MARKS = "[$€£¥₹, ]"  # and no letters: 1e5 is a number
_STRIPPED = f'.str.replace("{_MARKS}", "", regex=True), errors="coerce")'
_BARE = {
    "numpy": "pandas.to_numeric(pandas.Series(x).astype(str)" + _STRIPPED,
    "pandas": "pandas.to_numeric({0}.astype(str)" + _STRIPPED,
    "polars": f'{{0}}.str.replace_all("{_MARKS}", "").cast(polars.Float64, strict=False)',
    "pyarrow": "pandas.to_numeric({0}.to_pandas().astype(str)" + _STRIPPED,
    "duckdb": f"try_cast(regexp_replace({{0}}, '{_MARKS}', '', 'g') as double)",
    "spark": f"try_cast(regexp_replace({{0}}, '{_MARKS}', '') AS double)",
    "ibis": f'{{0}}.re_replace("{_MARKS}", "").try_cast("float64")',
}
_BARE["dask"] = _BARE["pandas"].replace("pandas.to_numeric", "dask.dataframe.to_numeric")
_BARE["parquet"] = _BARE["polars"]


@lru_cache
def is_number(declared: str) -> bool:
    """Whether columns of a declared type can be read.

    Integers, floats of up to 64 bits, booleans (0 and 1) and decimals can; but not decimals of
    Arrow with more digits behind the point than their type can hold, whose values Arrow cannot
    write as text, and those of 39 digits and more that Polars finds in a file and cannot read.

    Examples
    --------
    >>> [is_number(each) for each in ("Int64", "decimal128(10, 2)", "UHUGEINT", "float128")]
    [True, True, True, False]
    >>> is_number("decimal128(5, 39)"), is_number("Decimal(precision=76, scale=10)")
    (False, False)
    """
    lower = declared.lower()
    decimal = _DECIMAL.fullmatch(lower)
    if decimal is not None and abs(int(decimal[2])) > _DIGITS.get(int(decimal[1]), 38):
        return False
    return _NUMBER.fullmatch(lower) is not None and not _WIDE.fullmatch(lower)


def is_null(declared: str) -> bool:
    """Whether a declared type has no values but missing ones.

    Examples
    --------
    >>> is_null("null"), is_null("int64")
    (True, False)
    """
    return declared.removesuffix("[pyarrow]").strip('"').lower() in {"null", "void"}


def check_number(engine: str, declared: str, column: str | None) -> None:
    """Refuse a declared type that is not a number, with the conversion to write."""
    if is_number(declared):
        return
    what = "the data are" if column is None else f"column {column!r} is"
    if is_null(declared):
        raise UnsupportedData(
            f"{what} declared as {declared}: no row has a value; give a type to it where it is made"
        )
    line, bare = conversion(engine, declared, column), _without_marks(engine, declared, column)
    if line is None:
        advice = "pass numbers: integers, floats of up to 64 bits, decimals or booleans"
    elif engine == "parquet":
        advice = (
            "convert it first, for example in Python: pass "
            f"polars.scan_parquet(FILE).with_columns({line})"
        )
    else:
        advice = f"convert it first, for example with {line}"
    if bare is not None:
        advice += (
            "; cells such as '1,234' or '$5' become missing by that, and numbers by "
            f"{bare}, unless a comma is the decimal point"
        )
    if column is not None and _kind(declared) in _CATEGORIES:
        one = f"{in_expressions(column)} == 'some text'"
        advice += (
            f"; categories are counted by value_counts({column!r}, ...), and one of them is a "
            f'number of 0 or 1 in with_columns(name="{one}"), on the command line in --with '
            f'"name={one}"'
        )
    raise UnsupportedData(f"{what} declared as {declared}, not as numbers; {advice}")


def in_expressions(column: str) -> str:
    """Return how an expression names a column.

    Examples
    --------
    >>> in_expressions("age"), in_expressions("net income")
    ('age', "col('net income')")
    """
    return column if column.isidentifier() and not iskeyword(column) else f"col({column!r})"


def field_of(engine: str, declared: str, column: str, field: str) -> str:
    """Return what to write for a field of a column of fields; empty if it has none.

    Examples
    --------
    >>> print(field_of("polars", "Struct({'a': Int8})", "x", "a"))
    polars.col('x').struct.field("a")
    """
    if _kind(declared) != "fields":
        return ""
    return (conversion(engine, declared, column) or "").replace("FIELD", field)


def conversion(engine: str, declared: str, column: str | None) -> str | None:
    """Return what to write to convert a column to numbers; None if nothing is known."""
    line = _LINES.get(engine, {}).get(_kind(declared))
    return None if line is None else line.replace("{0}", _written(engine, column))


def _without_marks(engine: str, declared: str, column: str | None) -> str | None:
    """Return the conversion of text that also reads currency signs and thousands commas."""
    line = _BARE.get(engine) if _kind(declared) in {"text", "object"} else None
    return None if line is None else line.replace("{0}", _written(engine, column))


def _kind(declared: str) -> str:
    lower = declared.lower()
    return next((kind for kind, names in _KINDS.items() if names.match(lower)), "other")


def _written(engine: str, column: str | None) -> str:
    """Return how code of an engine names a column; without a name it is ``x``."""
    if column is None:
        return "x"
    mark = {"duckdb": '"', "spark": "`"}.get(engine)
    if mark is not None:
        return mark + column.replace(mark, 2 * mark) + mark
    return f"polars.col({column!r})" if engine in {"polars", "parquet"} else f"t[{column!r}]"


def value_type(declared: str) -> str:
    """Return the declared type of what a dictionary of Arrow lists; any other type as it is.

    Examples
    --------
    >>> value_type("dictionary<values=int64, indices=int32, ordered=0>"), value_type("double")
    ('int64', 'double')
    """
    encoded = _DICTIONARY.fullmatch(declared.removesuffix("[pyarrow]"))
    return declared if encoded is None else encoded[1]


def label_kind(declared: str) -> str | None:
    """Return the kind of labels that a declared type holds; ``None`` if it can hold none.

    Examples
    --------
    >>> [label_kind(each) for each in ("Int64", "BLOB", "list<item: int64>", "timestamp[us]")]
    ['number', 'text', None, 'datetime']
    """
    declared = declared.removesuffix("[pyarrow]")
    encoded = _DICTIONARY.fullmatch(declared)
    if encoded is not None:
        return label_kind(encoded[1])
    if is_number(declared):
        return "number"
    if declared == "Object":  # of Polars, and holds anything; that of pandas is in lower case
        return None
    lower = declared.lower()
    return next((kind for kind, names in _LABELS.items() if names.fullmatch(lower)), None)
