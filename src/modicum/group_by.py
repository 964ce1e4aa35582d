"""Questions that a curator answers for every group of rows with one key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec

import numpy as np

from modicum import request as ask
from modicum.array_release import ArrayRelease
from modicum.derive import asked, dressed
from modicum.errors import InvalidArgument
from modicum.grouped import GroupedRelease
from modicum.hints import no_attribute
from modicum.privacy.budget import Budget, chosen_budget
from modicum.privacy.event import Approximate
from modicum.release import Entry, Release
from modicum.runners.request import Query

__all__ = ["GroupBy", "checked_keys", "key_event"]

P = ParamSpec("P")
_ONE_NUMBER = (
    "groups are asked for one number each, and {name} gives several; ask for each of them with a "
    "request of its own"
)
Answer = Callable[[Mapping[str, Query[Release]]], Mapping[str, GroupedRelease]]


def _method(
    question: Callable[P, Query[Release]],
) -> Callable[Concatenate[GroupBy, P], GroupedRelease]:
    """Turn a request builder into a method with the same arguments."""

    def method(self: GroupBy, *args: P.args, **kwargs: P.kwargs) -> GroupedRelease:
        return self.run(asked(question, "", args, kwargs))

    derived: Callable[Concatenate[GroupBy, P], GroupedRelease]
    derived = dressed(method, question, owner="GroupBy", returns=GroupedRelease)
    return derived


def _refused(question: Callable[..., Query[ArrayRelease]]) -> Callable[..., NoReturn]:
    """Say why a question with several numbers has no such method."""

    def method(_self: GroupBy, *_: object, **__: object) -> NoReturn:
        raise InvalidArgument(_ONE_NUMBER.format(name=question.__name__))

    method.__doc__ = f"Refuse: groups are asked for one number each, not for a {question.__name__}."
    return method


class GroupBy:
    """Groups of the rows of a curator; made by :meth:`Curator.group_by`.

    Every question is asked of each group. A row is in one group at most, and who has records in
    several pays for each of them a share, so the price of a question is that of one group, however
    many groups there are.

    Attributes
    ----------
    by : str
        The column of keys.
    keys : tuple
        The keys, given or drawn; a release has them in this order.
    selection : Entry or None
        The draw of the keys, ``None`` if they were given.
    """

    __slots__ = ("_answer", "by", "keys", "selection")

    def __init__(
        self, by: str, keys: tuple[Any, ...], selection: Entry | None, answer: Answer
    ) -> None:
        self.by = by
        self.keys = keys
        self.selection = selection
        self._answer = answer

    mean = _method(ask.mean)
    sum = _method(ask.sum)
    count = _method(ask.count)
    quantile = _method(ask.quantile)
    median = _method(ask.median)
    variance = _method(ask.variance)
    std = _method(ask.std)
    iqr = _method(ask.iqr)
    minimum = _method(ask.minimum)
    maximum = _method(ask.maximum)
    trimmed_mean = _method(ask.trimmed_mean)
    winsorized_mean = _method(ask.winsorized_mean)
    huber_location = _method(ask.huber_location)
    lp_location = _method(ask.lp_location)
    expectile = _method(ask.expectile)
    monotone = _method(ask.monotone)
    quantiles = _refused(ask.quantiles)
    histogram = _refused(ask.histogram)
    cdf = _refused(ask.cdf)
    mean_vector = _refused(ask.mean_vector)
    clipped_mean_vector = _refused(ask.clipped_mean_vector)
    covariance, pca = _refused(ask.covariance), _refused(ask.pca)
    linear_regression, vector = _refused(ask.linear_regression), _refused(ask.vector)

    def run(self, request: Query[Release]) -> GroupedRelease:
        """Answer one request made with :mod:`modicum.request` for every group."""
        return self.together(answer=request)["answer"]

    def together(self, **requests: Query[Release]) -> Mapping[str, GroupedRelease]:
        """Answer several requests for every group, in the passes of the slowest one.

        Parameters, price and errors are those of :meth:`Curator.together`: the sum of the
        requests' prices, once for all groups.
        """
        for name, request in requests.items():
            if request.several:
                message = _ONE_NUMBER.format(name=request.statistic)
                raise InvalidArgument(f"{name}: {message}")
        return self._answer(requests)

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name)

    def __repr__(self) -> str:
        return f"GroupBy({self.by!r}, {len(self.keys)} keys)"


def key_event(budget: Budget | None) -> Approximate:
    """Return the event of a draw of keys for a budget.

    Raises
    ------
    InvalidArgument
        If it is no (ε, δ) with a positive δ: no key that one row brings in could ever be shown.
    """
    if not isinstance(budget, Budget) or budget.kind != "approx" or not 0 < budget.delta < 1:
        raise InvalidArgument(
            "key_budget must be modicum.approx(epsilon, delta): without a δ, a key that is in the "
            f"data with few rows could never be shown, got {budget!r}"
        )
    chosen_budget(None, None, budget)
    return Approximate(budget.amount, budget.delta)


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "number": ((Real, Decimal), "numbers"),
    "date": ((date,), "dates"),
    "moment": ((date,), "moments"),
}


def checked_keys(keys: Iterable[Hashable], by: str, kind: str | None) -> tuple[Any, ...]:
    """Read public keys; errors depend on them and on the declared kind of the column.

    Raises
    ------
    InvalidArgument
        If there are none, one is there twice, or one cannot be a label of the column.
    """
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise InvalidArgument(f"keys must be a list such as ['a', 'b'], got {keys!r}")
    read = tuple(_plain(key) for key in keys)
    if not read:
        raise InvalidArgument("keys is empty: name the groups, or give key_budget= to draw them")
    known = (str, Real, Decimal, date)
    allowed, name = _KINDS.get(kind or "text", (known, "labels"))
    for key in read:
        if not isinstance(key, known) or key != key:  # noqa: PLR0124 -- NaN
            raise InvalidArgument(
                f"key {key!r} can be no label: pass text, numbers, bools, dates or moments"
            )
        if not isinstance(key, allowed):
            raise InvalidArgument(f"the column {by!r} holds {name}, so no row has the key {key!r}")
    # A label that is text is also found by a key of that text, so these are one; and a mapping of
    # releases takes equal keys for one, such as 1, 1.0 and True.
    told_apart: list[Counter[Any]] = [Counter(read)]
    if kind not in _KINDS:
        told_apart.append(Counter(map(str, read)))
    twice = sorted({str(key) for each in told_apart for key, n in each.items() if n > 1})
    if twice:
        raise InvalidArgument(f"keys must be different, but there are several {twice[:10]}")
    return read


def _plain(key: Any) -> Any:
    """Return the Python value of a key, a moment in UTC."""
    if isinstance(key, np.generic):
        key = key.astype("M8[us]").item() if key.dtype == "M8[ns]" else key.item()
    if isinstance(key, datetime) and key.tzinfo is not None:
        key = key.astimezone(UTC).replace(tzinfo=None)
    return key
