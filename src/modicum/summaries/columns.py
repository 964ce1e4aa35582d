"""What a question about several columns at once is asked of: the rows, as vectors."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Columns"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Several columns, of which a reduction is shown rows: float64 matrices of shape (m, d).

    Such a reduction's :meth:`~modicum.summaries.base.Accumulator.update` gets C-contiguous matrices
    of any number of rows; the first has none and tells the width. They hold no NaN: a row with a
    missing value in any column is dropped. Infinities are left, to be clamped.

    Attributes
    ----------
    names : tuple of str or None
        Columns of a table, in the order of the components. ``None``: all of an array of shape
        (n, d), or of a fixed-size list; an array of shape (n,) has one.

    Examples
    --------
    >>> str(Columns(("height", "weight"))), str(Columns())
    ('height, weight', 'array')
    """

    names: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return "array" if self.names is None else ", ".join(self.names)
