"""One question of a file: its fields are read, and checked as far as no table is needed."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from modicum import query as ask
from modicum.api import group_by, signature
from modicum.api.curator import Curator
from modicum.api.tables.crosstab import checked_margins
from modicum.errors import InvalidArgument, ModicumError, as_given, did_you_mean
from modicum.privacy.budget import Budget, approx, pure, zcdp
from modicum.releases import confidence
from modicum.releases.publishing.table import Publishing
from modicum.runtime.query import Query
from modicum.sources.conditions.view import View
from modicum.statistics import contents
from modicum.summaries.base import Columns

DESCRIBE, CROSSTAB, VALUE_COUNTS, N_DISTINCT = "describe", "crosstab", "value_counts", "n_distinct"
WHOLE_TABLE = (DESCRIBE, CROSSTAB, VALUE_COUNTS, N_DISTINCT)
OF_CELLS = (CROSSTAB, VALUE_COUNTS)
_DEVICE = re.compile(r"CON|PRN|AUX|NUL|(COM|LPT)[0-9]", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,59}")
_COST = ("epsilon", "rho", "delta")
_GROUPS = ("by", "keys", "key_epsilon", "key_delta", "max_groups")
_FIELDS = ("name", "statistic", "where", "with", *_GROUPS, *_COST, "publish", "expect")
_ELSEWHERE = ("column", "columns", "epsilon", "rho", "budget")
_NOT_OWN = {"by", "more", "keys", "key_budget", "max_groups", *_ELSEWHERE}
_WITHOUT = {VALUE_COUNTS: {"by"}, N_DISTINCT: {*_GROUPS} - {"max_groups"}}
PUBLISHED = (*inspect.signature(Publishing.of).parameters, "wide")
_NOT_ASKED = ("publish", "expect")  # fields that do not change the answer


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Say where in a file an error is."""
    try:
        yield
    except ModicumError as error:
        raise type(error)(f"{where}: {error}") from None


def checked_fields(given: object, known: Sequence[str] | None, where: str) -> dict[str, Any]:
    """A table of a TOML file, all of whose fields are known; ``None``: whatever they are."""
    if not isinstance(given, dict):
        raise InvalidArgument(f"{where}: it must be a table of fields, got {given!r}")
    for field in given:
        if known is not None and field not in known:
            raise InvalidArgument(
                f"{where}: there is no field {field!r}{did_you_mean(field, known)}; there are "
                f"{', '.join(known)}"
            )
    return given


def checked_title(name: object, where: str) -> str:
    """A name that can be that of a file, and part of a key."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith((" ", ".")):
        raise InvalidArgument(
            f"{where}, name: it must be up to 60 letters, digits, spaces, _, . or -, got "
            f"{as_given(name)}"
        )
    if _DEVICE.fullmatch(name.partition(".")[0].strip()):
        raise InvalidArgument(
            f"{where}, name: no file can have the name {name!r} on Windows: choose another"
        )
    return name


@dataclass(frozen=True, slots=True)
class Publication:
    """How an answer is published, and whether wide."""

    publishing: Publishing
    wide: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question, checked as far as no table is needed.

    Attributes
    ----------
    where : str
        The file and the question, for messages.
    name, statistic : str
    columns : tuple of str or None
        Of a description, those that are described; ``None`` stands for all. Of a number of labels,
        the column.
    query : Query or None
        What is asked, of a whole table of each cell; ``None``: a description.
    cost : Budget
        Its cost, without that of drawing keys.
    views : tuple of View
        Columns that are made, one after the other, and then which rows count.
    by : tuple of str
        Columns of keys.
    keys : list, dict or None
        Public keys.
    key_budget : Budget or None
        For which keys are drawn.
    max_groups : int or None
    publication : Publication
    options, expect : mapping
        Arguments of the statistic; what is assumed of the data for a plan, if anything.
    digest : str
        Of all fields on which the answer depends: the same question has the same.
    """

    where: str
    name: str
    statistic: str
    columns: tuple[str, ...] | None
    query: Query[Any] | None
    cost: Budget
    views: tuple[View, ...]
    by: tuple[str, ...]
    keys: Any
    key_budget: Budget | None
    max_groups: int | None
    publication: Publication
    options: Mapping[str, Any]
    expect: Mapping[str, Any] | None
    digest: str

    @classmethod
    def of(cls, given: object, where: str, publish: Mapping[str, Any]) -> Question:
        """Read a table ``[[question]]``; ``publish`` are the defaults of the file."""
        if not isinstance(given, dict) or "name" not in given:
            raise InvalidArgument(f"{where}, name: every question needs a name")
        name = checked_title(given["name"], where)
        where = f"{where.partition(', question')[0]}, question {name!r}"
        statistic = _statistic(given.get("statistic"), where)
        own, first = _own(statistic)
        fields = checked_fields(given, _known(statistic, first, own), where)
        options = {field: _value(fields[field], own[field]) for field in own if field in fields}
        cost = _cost(fields, where)
        place = _place(fields, first, where)
        query = _query(statistic, place, options, cost, where)
        groups = _groups(statistic, fields)
        by = _by(groups, query, where)
        _check_margins(options, by, where)
        asked_for = sorted(field for field in fields if field not in _NOT_ASKED)
        text = json.dumps([[field, fields[field]] for field in asked_for], default=repr)
        publication = _publication(publish, fields.get("publish", {}), by, where)
        if publication.publishing.population and not (query and query.population):
            raise InvalidArgument(
                f"{where}, publish, population: the question has to ask for it: population = true"
            )
        expect = fields.get("expect")
        return cls(
            where,
            name,
            statistic,
            _columns(statistic, place),
            query,
            cost,
            _views(fields, where),
            by,
            _keys(groups, by, where),
            _key_budget(groups, by, where),
            fields.get("max_groups"),
            publication,
            options,
            None if expect is None else checked_fields(expect, None, f"{where}, expect"),
            hashlib.sha256(text.encode()).hexdigest()[:10],
        )

    def key(self, file: str) -> str:
        """The key under which it is charged once."""
        return f"{file}: {self.name} [{self.digest}]"

    @property
    def about(self) -> str:
        """What is asked, in a few words."""
        what = self.statistic
        if what in {VALUE_COUNTS, N_DISTINCT}:
            return f"{what} of {', '.join(self.columns or self.by)}"
        if self.query is not None:
            what += f" of {self.query.column or 'rows'}"
        return f"{what} by {', '.join(self.by)}" if self.by else what

    def field_of(self, error: ModicumError) -> str:
        """The field that an error is about: the first that its message names."""
        if self.statistic == CROSSTAB:
            return "values" if "values" in self.options else "statistic"
        if self.statistic == N_DISTINCT:
            return _named(str(error), ["max_groups"], "column")
        return _named(str(error), [*self.options, "column", "columns"], "statistic")


def _named(message: str, fields: Sequence[str], otherwise: str) -> str:
    words = re.findall(r"\w+", message)
    return next((word for word in words if word in fields), otherwise)


def _statistic(given: object, where: str) -> str:
    known = [
        *(each for each in contents.CHAPTERS if contents.find_statistic(each).command),
        *WHOLE_TABLE,
    ]
    if given not in known:
        meant = did_you_mean(str(given), known)
        raise InvalidArgument(
            f"{where}, statistic: it must be one of {', '.join(known)}, got {given!r}{meant}"
        )
    return str(given)


def _own(statistic: str) -> tuple[dict[str, str], str]:
    """Fields of a statistic with their types, and the one that names what is read."""
    if statistic in WHOLE_TABLE:
        parameters = dict(inspect.signature(getattr(Curator, statistic)).parameters)
        del parameters["self"]
        others = _NOT_OWN
    else:
        parameters = dict(inspect.signature(contents.find_statistic(statistic).question).parameters)
        others = {*_ELSEWHERE}
    own = {name: str(p.annotation) for name, p in parameters.items() if name not in others}
    return own, next(iter(parameters))


def _known(statistic: str, first: str, own: Mapping[str, str]) -> list[str]:
    fields = [field for field in _FIELDS if field not in _WITHOUT.get(statistic, ())]
    return [*dict.fromkeys([*fields, first, *own])]


def _value(given: Any, annotation: str) -> Any:
    """What a field holds, as the statistic takes it; TOML has no tuples and no None."""
    if given == "none" and "None" in annotation:
        return None
    return tuple(given) if "tuple" in annotation and isinstance(given, list) else given


def _place(fields: Mapping[str, Any], first: str, where: str) -> Any:
    place = fields.get(first)
    if first == "columns" and place is not None:
        if not isinstance(place, list) or not all(isinstance(each, str) for each in place):
            raise InvalidArgument(f"{where}, columns: it must be a list of names, got {place!r}")
    elif place is not None:
        if fields["statistic"] in {VALUE_COUNTS, N_DISTINCT} and not isinstance(place, str):
            raise InvalidArgument(f"{where}, {first}: it must be a column name, got {place!r}")
    elif fields["statistic"] not in {"count", DESCRIBE}:
        raise InvalidArgument(f"{where}, {first}: it is missing")
    return place


def _cost(fields: Mapping[str, Any], where: str) -> Budget:
    epsilon, rho, delta = (fields.get(name) for name in _COST)
    if (epsilon is None) == (rho is None):
        raise InvalidArgument(f"{where}, epsilon: give epsilon, or epsilon and delta, or rho")
    if rho is not None:
        if delta is not None:
            raise InvalidArgument(f"{where}, delta: it goes with epsilon")
        with naming(f"{where}, rho"):
            return zcdp(rho)
    with naming(f"{where}, {'epsilon' if delta is None else 'delta'}"):
        assert epsilon is not None
        return pure(epsilon) if delta is None else approx(epsilon, delta)


def _query(
    statistic: str, place: Any, options: Mapping[str, Any], cost: Budget, where: str
) -> Query[Any] | None:
    if statistic == DESCRIBE:
        return None
    if statistic in WHOLE_TABLE:
        return _query_of_cells(options, cost, where)
    try:
        question = contents.find_statistic(statistic).question
        return signature.asked(question, "", (place,), {**options, "budget": cost})
    except ModicumError as error:
        message = str(error)
        fields = [*inspect.signature(question).parameters]
        field = _named(message.removeprefix(f"{statistic}()"), fields, "statistic")
        field = "epsilon" if field == "budget" else field
        raise type(error)(f"{where}, {field}: {message}") from None


def _query_of_cells(options: Mapping[str, Any], cost: Budget, where: str) -> Query[Any]:
    """What is asked of each cell: its rows, or the sum of a column."""
    of_sum = {name: options[name] for name in ("within", "step") if name in options}
    values = options.get("values")
    if values is None:
        for field in of_sum:
            raise InvalidArgument(f"{where}, {field}: it needs values, the column to sum")
        return ask.count(budget=cost)
    if not isinstance(values, str):
        raise InvalidArgument(f"{where}, values: it must be a column name, got {values!r}")
    query = _query("sum", values, of_sum, cost, where)
    assert query is not None
    return query


def _check_margins(options: Mapping[str, Any], by: tuple[str, ...], where: str) -> None:
    if (margins := options.get("margins")) is None:
        return
    lists = isinstance(margins, list) and all(isinstance(each, list) for each in margins)
    if not isinstance(margins, bool) and not (
        lists and all(isinstance(name, str) for each in margins for name in each)
    ):
        raise InvalidArgument(
            f"{where}, margins: it must be true, false, or a list of lists of columns, got "
            f"{margins!r}"
        )
    with naming(f"{where}, margins"):
        checked_margins(by, margins)


def _columns(statistic: str, place: Any) -> tuple[str, ...] | None:
    if statistic == DESCRIBE and place is not None:
        return tuple(place)
    return (place,) if statistic == N_DISTINCT else None


def _groups(statistic: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields of groups, or of cells, which are those of the column whose labels are counted."""
    if statistic == N_DISTINCT:
        return {}
    return {**fields, "by": fields["column"]} if statistic == VALUE_COUNTS else fields


def _views(fields: Mapping[str, Any], where: str) -> tuple[View, ...]:
    made = checked_fields(fields.get("with", {}), None, f"{where}, with")
    texts = {f"with, {name}": text for name, text in made.items()}
    if "where" in fields:
        texts["where"] = fields["where"]
    for field, text in texts.items():
        if not isinstance(text, str):
            raise InvalidArgument(f"{where}, {field}: it must be text, got {text!r}")
    views = [View(None, (each,)) for each in made.items()]
    return tuple([*views, View(fields["where"])] if "where" in fields else views)


def _by(fields: Mapping[str, Any], query: Query[Any] | None, where: str) -> tuple[str, ...]:
    by = fields.get("by", [])
    by = [by] if isinstance(by, str) else by
    if not isinstance(by, list) or not all(isinstance(each, str) for each in by):
        raise InvalidArgument(f"{where}, by: it must be a column or a list of columns, got {by!r}")
    if not by:
        for field in _GROUPS:
            if field in fields:
                raise InvalidArgument(f"{where}, {field}: it needs by, the column of keys")
    elif query is None or isinstance(query.place, Columns):
        raise InvalidArgument(
            f"{where}, by: groups are asked about one column each, not for a {fields['statistic']}"
        )
    return tuple(by)


def _keys(fields: Mapping[str, Any], by: Sequence[str], where: str) -> Any:
    keys, drawn = fields.get("keys"), "key_epsilon" in fields or "key_delta" in fields
    if by and (keys is None) != drawn:
        raise InvalidArgument(
            f"{where}, keys: give keys, known beforehand, or key_epsilon and key_delta to draw them"
        )
    if keys is not None and not isinstance(keys, list | dict):
        raise InvalidArgument(f"{where}, keys: it must be a list, or one for each column of by")
    if isinstance(keys, dict):
        if {*keys} != {*by} or not all(isinstance(each, list) for each in keys.values()):
            raise InvalidArgument(
                f"{where}, keys: it must have a list for each of {', '.join(by)}, got {keys!r:.200}"
            )
        return keys[by[0]] if len(by) == 1 else keys
    return keys


def _key_budget(fields: Mapping[str, Any], by: Sequence[str], where: str) -> Budget | None:
    if not by or "keys" in fields:
        return None
    for field in ("key_epsilon", "key_delta"):
        if field not in fields:
            raise InvalidArgument(f"{where}, {field}: it is missing")
    with naming(f"{where}, key_epsilon"):
        budget = approx(fields["key_epsilon"], fields["key_delta"])
        group_by.key_event(budget)
    return budget


def _publication(
    usual: Mapping[str, Any], given: object, by: Sequence[str], where: str
) -> Publication:
    where = f"{where}, publish"
    fields = {**usual, **checked_fields(given, PUBLISHED, where)}
    wide = fields.pop("wide", None)
    if wide is not None and (not isinstance(wide, str) or (by and wide not in by)):
        raise InvalidArgument(f"{where}, wide: it must be a column of by, got {wide!r}")
    if fields.get("digits") == "all":
        fields["digits"] = None
    if fields.get("tail") == "none":
        fields["tail"] = None
    try:
        confidence.check_confidence(fields.get("level", 0.95), fields.get("tail", "auto"))
        return Publication(Publishing.of(**fields), wide)
    except ModicumError as error:
        field = _named(str(error), PUBLISHED, "digits")
        raise type(error)(f"{where}, {field}: {error}") from None
