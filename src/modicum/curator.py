"""The curator of a data set: it reads, charges, draws and releases, in that order."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, NoReturn, ParamSpec

from modicum import request as ask
from modicum.errors import BudgetExceeded, InvalidArgument
from modicum.exact.enclosure import float_nearest
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.frames.reader import read
from modicum.frames.source import Source, open_source
from modicum.privacy.budget import Budget, chosen_budget
from modicum.privacy.event import cost, event_of
from modicum.privacy.unit import Unit
from modicum.release import Release
from modicum.runners.live import run
from modicum.runners.request import Request
from modicum.runners.walk import Walk
from modicum.steps import Ask
from modicum.version import VERSION

__all__ = ["Curator", "count", "mean", "median", "quantile", "sum"]

P = ParamSpec("P")
Table = Any  # anything open_source accepts; engines are never imported here


def _method(question: Callable[P, Request]) -> Callable[Concatenate[Curator, P], Release]:
    """Turn a request builder into a method of the curator with the same arguments."""

    def method(self: Curator, *args: P.args, **kwargs: P.kwargs) -> Release:
        _refuse_bounds(kwargs)
        return self.run(question(*args, **kwargs))

    dressed: Callable[Concatenate[Curator, P], Release]
    dressed = _dressed(method, question, "self", example="")
    return dressed


def _refuse_bounds(arguments: Mapping[str, object]) -> None:
    """Answer those who look for clipping bounds."""
    if "bounds" in arguments:
        raise InvalidArgument(
            "bounds= is no argument here: give within=, any safe public range such as "
            "(-1e9, 1e9); no tight bounds are needed"
        )


def _dressed(
    function: Callable[..., Release], question: Callable[..., Request], first: str, example: str
) -> Any:
    """Give a derived function the question's signature and documentation."""
    name, signature = question.__name__, inspect.signature(question)
    documentation = inspect.cleandoc(question.__doc__ or "").partition("Examples\n--------")[0]
    documentation = documentation.replace("Ask for the", "Release the", 1)
    documentation = documentation.replace(
        "Request\n    Guarantee when answered:", "Release\n    Guarantee:", 1
    )
    leading = inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    function.__name__ = name
    function.__qualname__ = f"Curator.{name}" if first == "self" else name
    function.__doc__ = documentation + (f"Examples\n--------\n{example}\n" if example else "")
    parameters = [leading, *signature.parameters.values()]
    visible = signature.replace(parameters=parameters, return_annotation=Release)
    function.__signature__ = visible  # type: ignore[attr-defined]
    return function


class Curator:
    """Guards one data set with one budget.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow or DuckDB table, a one-dimensional array or series, or the
        path of a Parquet or CSV file. It is only read when a question is asked.
    unit : Unit
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    budget : Budget
        Everything this curator may ever spend: :func:`modicum.pure`, ``zcdp`` or ``approx``.
        There is no default.
    entropy : Entropy, optional
        For tests only: releases made with it say that they are not private.

    Notes
    -----
    Safe to share between threads: one question is answered at a time. It refuses to be pickled,
    copied or used in a forked child, where its budget would be spent twice.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> curator = modicum.Curator(np.arange(1000.0), budget=modicum.pure("3"))
    >>> release = curator.mean(within=(-1e6, 1e6), epsilon=1)
    >>> curator.remaining
    pure('2')
    """

    def __init__(
        self,
        table: Table,
        *,
        unit: Unit | None = None,
        budget: Budget,
        entropy: Entropy | None = None,
    ) -> None:
        chosen_budget(None, None, budget)
        if unit is not None and not isinstance(unit, Unit):
            raise InvalidArgument(f"unit must come from modicum.unit_of, got {type(unit).__name__}")
        self._source = open_source(table)
        self._unit = unit if unit is not None else Unit()
        self._budget = budget
        self._spent = Budget(budget.kind, budget.amount * 0)
        self._entropy = entropy if entropy is not None else SYSTEM
        self._lock = threading.Lock()
        self._process = os.getpid()

    mean = _method(ask.mean)
    sum = _method(ask.sum)
    count = _method(ask.count)
    quantile = _method(ask.quantile)
    median = _method(ask.median)

    @property
    def budget(self) -> Budget:
        """The whole budget."""
        return self._budget

    @property
    def spent(self) -> Budget:
        """What has been charged so far."""
        return self._spent

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self._budget - self._spent

    def run(self, request: Request) -> Release:
        """Answer one request made with :mod:`modicum.request`."""
        return self.together(answer=request)["answer"]

    def together(self, **requests: Request) -> Mapping[str, Release]:
        """Answer several requests in the passes of the slowest one.

        Parameters
        ----------
        **requests : Request
            Name each question: ``together(income=modicum.request.mean("income", ...))``.

        Returns
        -------
        mapping of str to Release
            In the order asked. The whole cost is charged at once, before the first draw.

        Raises
        ------
        BudgetExceeded
            If their total does not fit into what remains; nothing is read or charged.
        InvalidArgument, MissingColumn, UnsupportedData
            For bad arguments or columns; nothing is read or charged.
        """
        if not requests:
            raise InvalidArgument("together() needs at least one request")
        self._check_process()  # before the lock: a fork may have copied it locked
        with self._lock:
            price = self._price(requests.values())
            self._check_remaining(price)
            for request in requests.values():
                self._source.check(request.column)

            def charge() -> None:
                self._spent = self._spent + price

            walks = run(
                requests,
                _SourceReader(self._source),
                unit=self._unit,
                charge=charge,
                entropy=self._entropy,
            )
            account = f"{self._spent} of {self._budget} spent"
            return {
                name: _release(
                    requests[name], walk, self._source, self._unit, account, self._entropy
                )
                for name, walk in walks.items()
            }

    def _price(self, requests: Any) -> Budget:
        total = Budget(self._budget.kind, self._budget.amount * 0)
        for request in requests:
            if not isinstance(request, Request):
                raise InvalidArgument(
                    "a request must be made with modicum.request, for example "
                    f"modicum.request.mean(...), got {type(request).__name__}"
                )
            price = chosen_budget(None, None, request.budget)
            total = total + cost(event_of(price), self._budget.kind)
        return total

    def _check_remaining(self, price: Budget) -> None:
        if not self._spent + price <= self._budget:
            raise BudgetExceeded(
                f"this costs {price}, but only {self.remaining} of {self._budget} is left; "
                "nothing was charged"
            )

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise InvalidArgument(
                "a Curator cannot be used in a forked process: its budget would be spent twice"
            )

    def __repr__(self) -> str:
        return (
            f"Curator({self._source.engine} data, unit={self._unit}, budget={self._budget!r}, "
            f"spent={self._spent!r})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Curator cannot be pickled or copied: it guards data and a budget")

    __copy__ = __deepcopy__ = None


class _SourceReader:
    """The runner's reader over an opened source."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        return read(self._source, asks, entropy)


def _release(
    request: Request, walk: Walk, source: Source, unit: Unit, account: str, entropy: Entropy
) -> Release:
    assert walk.answer is not None
    return Release(
        statistic=request.statistic,
        column=request.column,
        value=float_nearest(walk.answer.value),
        event=event_of(request.budget),
        unit=unit,
        lattice=request.lattice,
        method=request.method,
        status=walk.answer.status,
        journal=tuple(walk.journal),
        evidence=walk.answer.evidence,
        engine=source.engine,
        account=account,
        private=entropy.secret,
        version=VERSION,
    )


def _one_shot(
    question: Callable[P, Request], *, example: str
) -> Callable[Concatenate[Table, P], Release]:
    """Turn a request builder into a function of a table with the same arguments."""

    def function(table: Table, *args: P.args, **kwargs: P.kwargs) -> Release:
        _refuse_bounds(kwargs)
        request = question(*args, **kwargs)
        source = open_source(table)
        source.check(request.column)
        walks = run(
            {"answer": request},
            _SourceReader(source),
            unit=Unit(),
            charge=lambda: None,
            entropy=SYSTEM,
        )
        account = "not counted against any budget"
        return _release(request, walks["answer"], source, Unit(), account, SYSTEM)

    dressed: Callable[Concatenate[Table, P], Release]
    dressed = _dressed(function, question, "table", example)
    return dressed


_EXAMPLE = """>>> import numpy as np, modicum
>>> release = modicum.{name}(np.arange(20_000.0), {arguments}epsilon=1)
>>> {low} < release.value < {high}
True"""

mean = _one_shot(
    ask.mean,
    example=_EXAMPLE.format(name="mean", arguments="within=(-1e9, 1e9), ", low=9900, high=10100),
)
sum = _one_shot(
    ask.sum,
    example=_EXAMPLE.format(name="sum", arguments="within=(-1e9, 1e9), ", low=1.9e8, high=2.1e8),
)
count = _one_shot(
    ask.count, example=_EXAMPLE.format(name="count", arguments="", low=19900, high=20100)
)
quantile = _one_shot(
    ask.quantile,
    example=_EXAMPLE.format(
        name="quantile", arguments="q=0.9, within=(-1e9, 1e9), ", low=17_800, high=18_200
    ),
)
median = _one_shot(
    ask.median,
    example=_EXAMPLE.format(name="median", arguments="within=(-1e9, 1e9), ", low=9800, high=10200),
)
