"""Which declared types are numbers, and what to write where they are not."""

from __future__ import annotations

import narwhals.stable.v2 as nw

__all__ = ["refusal"]

_TIMES = (nw.Date, nw.Datetime, nw.Duration, nw.Time)
_LABELS = (nw.Categorical, nw.Enum)


def refusal(column: str, dtype: nw.dtypes.DType) -> str | None:
    """Say why a column of this declared type cannot be used; ``None`` if it can.

    Accepted are integers and floats of any width, booleans (0 and 1) and decimals (each rounded
    to the nearest float64).
    """
    if dtype.is_numeric() or dtype == nw.Boolean:
        return None
    return f"column {column!r} is declared as {dtype}, not as numbers: {_advice(column, dtype)}"


def _advice(column: str, dtype: nw.dtypes.DType) -> str:
    if isinstance(dtype, _TIMES):
        return (
            "convert it first, for example to days, by subtracting a public date and dividing by "
            "one day"
        )
    if isinstance(dtype, nw.String):
        return (
            f"convert it first: pandas.to_numeric(df[{column!r}], errors='coerce') or, in Polars, "
            f"pl.col({column!r}).cast(pl.Float64, strict=False)"
        )
    if isinstance(dtype, nw.Object):
        return f"convert it first: df[{column!r}].astype('float64')"
    if isinstance(dtype, _LABELS):
        return "give each category a number first"
    return "convert it to float64 first"
