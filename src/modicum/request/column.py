"""The column a question is about."""

from __future__ import annotations

from modicum.errors import InvalidArgument

__all__ = ["column_name"]


def column_name(column: object) -> str | None:
    """Check the name of a column; ``None`` stands for an array's values or a table's rows.

    Raises
    ------
    InvalidArgument
        If it is no text.
    """
    if column is not None and not isinstance(column, str):
        raise InvalidArgument(f"column must be a column name, got {type(column).__name__}")
    return column
