"""Every error and warning that modicum raises, and what they say of a mistyped name.

Each error is a :class:`ModicumError` and also of the built-in kind a caller would expect. Messages
say what was wrong, the value of the argument and what to do; they never depend on data values.
"""

from __future__ import annotations

import functools
import inspect
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sized
from datetime import date, time, timedelta
from decimal import Decimal
from importlib import import_module
from numbers import Number
from typing import ParamSpec, TypeVar

_SHOWN = 8  # keys, or elements of a list, in a message
_VOWELS = (*"AEIOUaeiou", "nd")  # how the names of kinds begin that are said with a vowel
_ALIKE, _SHORT_ALIKE = 0.75, 0.65  # how alike two names are of which one may be meant
_SHORT = 3  # letters of a word in which one more or less is much
_LONGEST = 200  # letters of a text in a message
_PLAIN = (Number, Decimal, date, time, timedelta)  # what is typed, besides text
P = ParamSpec("P")
T = TypeVar("T")
_OTHER_NAMES = {
    "average": "mean",
    "avg": "mean",
    "corr": "covariance",
    "correlation": "covariance",
    "cov": "covariance",
    "delimiter": "separator",
    "filter": "where",
    "maximum": "max",
    "minimum": "min",
    "nunique": "n_distinct",
    "ols": "linear_regression",
    "percentile": "quantile",
    "percentiles": "quantiles",
    "range": "within",
    "read_csv": "csv_file",
    "size": "count",
    "stdev": "std",
    "to_frame": "frame",
    "to_pandas": "frame",
    "total": "sum",
    "variance": "var",
}  # by which other libraries call the same


class ModicumError(Exception):
    """Base class of every error of modicum.

    Examples
    --------
    >>> import modicum as mo
    >>> try:
    ...     mo.count([1.0, 2.0], epsilon=-1)
    ... except mo.ModicumError as error:
    ...     print(type(error).__name__)
    InvalidArgument
    """


class InvalidArgument(ModicumError, ValueError):
    """An argument has a value that cannot be used.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.quantile([1.0, 2.0], q=2, epsilon=1)
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: ...
    """


class WrongCall(InvalidArgument, TypeError):
    """A function was called with arguments that it does not take, or without one that it needs."""


class MissingColumn(ModicumError, KeyError):
    """The table declares no column of that name.

    Examples
    --------
    >>> import modicum as mo, pandas as pd
    >>> mo.mean(pd.DataFrame({"income": [1.0]}), "incom", epsilon=1)
    Traceback (most recent call last):
    modicum.errors.MissingColumn: ...
    """

    def __str__(self) -> str:
        """Return the plain message (``KeyError`` would quote it)."""
        return Exception.__str__(self)


class MissingKey(ModicumError, KeyError):
    """A release has no answer for such a key."""

    def __init__(self, key: object, known: Iterable[object], hint: str = "") -> None:
        named = [*map(repr, known)]
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        texts = [each for each in known if isinstance(each, str)]
        meant = did_you_mean(key, texts) if isinstance(key, str) else ""
        super().__init__(
            f"there is no {as_given(key)}{meant or ','} the keys are "
            f"{', '.join(named[:_SHOWN])}{more}{hint}"
        )

    def __str__(self) -> str:
        """Return the plain message (``KeyError`` would quote it)."""
        return Exception.__str__(self)


class UnsupportedData(ModicumError, TypeError):
    """The object is not a table, or the declared type of a column cannot be used.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.mean({1.0, 2.0}, epsilon=1)
    Traceback (most recent call last):
    modicum.errors.UnsupportedData: ...
    """


class CopyRefused(ModicumError, TypeError):
    """The object holds a secret, and so refuses to be copied, pickled or sent to a process."""


class SourceError(ModicumError, OSError):
    """The data could not be read.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.mean("nowhere.csv", "income", epsilon=1)
    Traceback (most recent call last):
    modicum.errors.SourceError: ...
    """


class OutputError(ModicumError, OSError):
    """A file could not be written. What it was to hold is released and charged already.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.OutputError, OSError)
    True
    """


class BudgetExceeded(ModicumError, RuntimeError):
    """A release costs more than what is left of the budget.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.Curator([1.0, 2.0], budget=mo.pure(1)).count(epsilon=2)
    Traceback (most recent call last):
    modicum.errors.BudgetExceeded: ...
    """


class LedgerError(ModicumError, OSError):
    """The ledger could not be read or written. Nothing was released.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.LedgerError, OSError)
    True
    """


class AccessDeniedError(LedgerError, PermissionError):
    """Whoever asks may read the ledger, and not spend from it.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.AccessDeniedError, mo.LedgerError)
    True
    """


class LedgerCorrupt(LedgerError):
    """The entries of the ledger were edited, or its file is damaged. Nothing is spent from it.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.LedgerCorrupt, mo.LedgerError)
    True
    """


class KeyReusedError(InvalidArgument):
    """An idempotency key belongs to another query.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> url = f"sqlite:///{pathlib.Path(tempfile.mkdtemp())}/budget.db"
    >>> account = mo.Ledger.create(url).open_account("people", mo.pure(3))
    >>> job = mo.Curator([1.0, 2.0], ledger=url, account="people").idempotent("tonight")
    >>> release = job.count(epsilon=1)
    >>> job.count(epsilon=2)
    Traceback (most recent call last):
    modicum.errors.KeyReusedError: ...
    """


class ModicumWarning(UserWarning):
    """A warning of modicum; it never depends on data values.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.ModicumWarning, UserWarning)
    True
    """


def as_given(given: object) -> str:
    """Write what a message shows an argument that cannot be used, which may be data.

    What a user typed is written as it was typed; of anything that may hold data, such as a table,
    an array or a long list, only the kind is named.

    Examples
    --------
    >>> as_given("tuesday"), as_given((0, None)), as_given({1.5}), as_given(list(range(99)))
    ("'tuesday'", '(0, None)', 'a set', 'a long list')
    """
    kind = type(given)
    if isinstance(given, str):
        return repr(given) if len(given) <= _LONGEST else f"{given[:_LONGEST]!r}..."
    if kind in {list, tuple, dict} and isinstance(given, Sized):
        if len(given) > _SHOWN:
            return f"a long {kind.__name__}"
        if isinstance(given, dict):
            inner = ", ".join(f"{as_given(name)}: {as_given(each)}" for name, each in given.items())
            return f"{{{inner}}}"
        inner = ", ".join(map(as_given, given))  # type: ignore[call-overload]
        single = "," * (kind is tuple and len(given) == 1)
        return f"[{inner}]" if kind is list else f"({inner}{single})"
    paths = sys.modules.get("pathlib")  # whoever has a path has imported it
    plain = _PLAIN if paths is None else (*_PLAIN, paths.PurePath)
    if given is None or isinstance(given, plain) or kind.__module__.startswith("modicum.privacy."):
        return _written(given)
    return a_kind(kind)


def _written(given: object) -> str:
    try:
        return repr(given)
    except ValueError:  # Python writes no integer of over 4,300 digits
        return "a number of thousands of digits"


def can_be_key(given: object) -> bool:
    """Whether a mapping can have an argument as a key: no table and no list.

    Examples
    --------
    >>> can_be_key(("North", 2026)), can_be_key(["North"])
    (True, False)
    """
    try:
        hash(given)
    except TypeError:
        return False
    return True


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a word, in any case; None if no name is near.

    One that means the same in other libraries comes first, then one that begins with the word.

    Examples
    --------
    >>> nearest("average", ["mean", "age"])
    'mean'
    >>> nearest("Icnome", ["income", "age"]), nearest("zip", ["income", "age"])
    ('income', None)
    >>> nearest("--eps", ["--step", "--epsilon"])
    '--epsilon'
    """
    names = {_plain(each): each for each in reversed(list(known))}
    plain = _plain(word)
    if _OTHER_NAMES.get(plain) in names:
        return names[_OTHER_NAMES[plain]]
    begun = sorted((each for each in names if plain and each.startswith(plain)), key=len)
    if begun and (len(plain) > 1 or begun[0] == plain):
        return names[begun[0]]
    alike = _ALIKE if len(plain) > _SHORT else _SHORT_ALIKE
    found = import_module("difflib").get_close_matches(plain, names, n=1, cutoff=alike)
    return names[found[0]] if found else None


def _plain(word: str) -> str:
    """A name without what makes no difference to the eye."""
    return unicodedata.normalize("NFKC", word).casefold().lstrip("-")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Ask whether the nearest name was meant, for the end of a message; empty if no name is near.

    Letters that may look alike are told by their numbers.

    Examples
    --------
    >>> did_you_mean("meen", ["mean", "sum"])
    ", did you mean 'mean'?"
    >>> did_you_mean("\u00b5g", ["\u03bcg"])
    ", did you mean 'μg' (with U+03BC in place of U+00B5)?"
    """
    found = nearest(word, known)
    return "" if found is None else f", did you mean {found!r}{_unlike(found, word)}?"


def _unlike(found: str, word: str) -> str:
    """How a name differs from a word, if not by letters of ASCII alone."""
    matcher = import_module("difflib").SequenceMatcher(None, found, word, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal" and not (found[a:b] + word[c:d]).isascii():
            has, given = (
                " ".join(f"U+{ord(each):04X}" for each in part) or "nothing"
                for part in (found[a:b], word[c:d])
            )
            return f" (with {has} in place of {given})"
    return ""


def no_attribute(owner: object, name: str, elsewhere: Mapping[str, str] = {}) -> AttributeError:
    """Return the error for a name that an object does not have, and that may be mistyped.

    ``elsewhere`` says of some names what to use instead.
    """
    kind = type(owner)
    meant = ""
    if name in elsewhere:
        meant = f": {elsewhere[name]}"
    elif not name.startswith("_"):  # as Python looks up itself, for dir() too
        meant = did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")])
    return AttributeError(f"{a_kind(kind)} has no {name!r}{meant}")


def number_of(number: int, thing: str, things: str | None = None) -> str:
    """Return a number and what it counts, in the singular if that is one.

    Examples
    --------
    >>> number_of(1, "row"), number_of(1234, "row"), number_of(0, "entry", "entries")
    ('1 row', '1,234 rows', '0 entries')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def a_kind(kind: type) -> str:
    """Write the name of a kind with its article.

    Examples
    --------
    >>> a_kind(int), a_kind(list)
    ('an int', 'a list')
    """
    return f"{'an' if kind.__name__.startswith(_VOWELS) else 'a'} {kind.__name__}"


def says_how(example: str, **elsewhere: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function answer a wrong call with what was wrong, and with a call that would do.

    ``elsewhere`` says of arguments that it does not have what to write instead. A mistake inside
    the function is raised as it is.

    Examples
    --------
    >>> @says_how("half(2)", number="give it without a name")
    ... def half(x, *, digits=9): ...
    >>> half(1, number=2)
    Traceback (most recent call last):
    modicum.errors.WrongCall: half() has no argument 'number': give it without a name
    >>> half(1, 2)
    Traceback (most recent call last):
    modicum.errors.WrongCall: half() takes all but x by name, such as half(2)
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            try:
                return function(*arguments, **named)
            except TypeError:
                wrong = wrong_call(function, arguments, named, elsewhere, lambda: example)
                if not wrong:
                    raise
            raise WrongCall(f"{example.partition('(')[0].rpartition('.')[2]}() {wrong}")

        return call

    return decorated


def wrong_call(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    named: Mapping[str, object],
    elsewhere: Mapping[str, str],
    example: Callable[[], str],
) -> str:
    """What is wrong with the arguments of a call, whatever their values; nothing if they fit.

    ``elsewhere`` is as for :func:`says_how`; ``example`` writes a call that would do.
    """
    every = inspect.signature(function).parameters.values()
    known = [each for each in every if each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}]
    names = [each.name for each in known]
    for name in () if any(each.kind is each.VAR_KEYWORD for each in every) else named:
        if name not in names and name in elsewhere:
            return f"has no argument {name!r}: {elsewhere[name]}"
        if name not in names:
            return f"has no argument {name!r}{did_you_mean(name, names)}"
    places = [each.name for each in known if each.kind is each.POSITIONAL_OR_KEYWORD]
    if len(arguments) > len(places) and all(each.kind != each.VAR_POSITIONAL for each in every):
        but = ", ".join(name for name in places if name != "self")
        return f"takes all {f'but {but} ' * bool(but)}by name, such as {example()}"
    given = {*places[: len(arguments)], *named}
    if needed := [p.name for p in known if p.default is p.empty and p.name not in given]:
        return f"needs {', '.join(f'{each}=' for each in needed)}, such as {example()}"
    return ""
