"""All that an observer can see of a question, and the same question with its outcomes given.

With the same outcomes of all draws, everything that is shown has to be the same on any two tables:
answers, texts, charges, errors, warnings, log lines, and the order, labels, costs and public
parameters of the draws themselves. What differs was not paid for.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from modicum.runtime.run import LiveRun

Ask = Callable[[Any], Any]
"""Asks a question about a table; returns what it shows, such as a release and its curator."""


class Seen(dict[str, Any]):
    """What an observer saw, by where; ``outcomes`` are those of the draws."""

    outcomes: list[Any]

    def unlike(self, other: Seen) -> str:
        """Say what differs first; empty if nothing does."""
        for place in dict.fromkeys([*self, *other]):
            one, two = self.get(place), other.get(place)
            if one != two:
                return f"{place}: {_difference(one, two)}"
        return ""


def _difference(one: Any, two: Any) -> str:
    if isinstance(one, list) and isinstance(two, list):
        pairs = ((a, b) for a, b in zip(one, two, strict=False) if a != b)
        one, two = next(pairs, (f"{len(one)} of them", f"{len(two)} of them"))
    one, two = str(one), str(two)
    first = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    start = max(0, first - 60)
    return f"{one[start : start + 200]!r} and {two[start : start + 200]!r}"


@contextlib.contextmanager
def _dictated(given: Sequence[Any] | None) -> Iterator[tuple[list[Any], list[Any]]]:
    """Note all draws and outcomes; with given outcomes, answer with those in place of drawn ones.

    What draws more often than there are outcomes goes on with its own: the trail tells.
    """
    trail: list[Any] = []
    outcomes: list[Any] = []
    take = LiveRun.take

    def noted(live: LiveRun, step: Any, outcome: Any) -> None:
        mechanism = step.mechanism
        public = {name: repr(value) for name, value in mechanism.public().items()}
        if given is not None and len(trail) < len(given):
            outcome = given[len(trail)]
        trail.append((step.label, mechanism.name, repr(step.event), step.records, public))
        outcomes.append(outcome)
        take(live, step, outcome)

    with mock.patch.object(LiveRun, "take", noted):
        yield trail, outcomes


def seen(ask: Ask, table: Any, outcomes: Sequence[Any] | None = None) -> Seen:
    """Ask, and return all that can be seen; draws are answered from a list if there is one."""
    found = Seen()
    lines, logs = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(logs)
    logging.getLogger().addHandler(handler)
    try:
        with (
            _dictated(outcomes) as (trail, drawn),
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stderr(lines),
            contextlib.redirect_stdout(lines),
        ):
            warnings.simplefilter("always")
            try:
                answer = ask(table)
                texts = {f"shown {i}": _texts(each) for i, each in enumerate(answer)}
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is seen
                texts = {"error": [type(error).__name__, str(error)]}
    finally:
        logging.getLogger().removeHandler(handler)
    found["draws"], found.outcomes = trail, drawn
    found.update(texts)
    found["warnings"] = [f"{each.category.__name__}: {each.message}" for each in warned]
    found["printed"], found["logged"] = lines.getvalue(), logs.getvalue()
    return found


def _texts(answer: Any) -> list[str]:
    if isinstance(answer, str):
        return [answer]
    methods = ("to_json", "_repr_html_", "explain")
    made = [getattr(answer, name)() for name in methods if hasattr(answer, name)]
    return [str(answer), repr(answer), *map(str, made)]
