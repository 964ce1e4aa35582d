"""Between which numbers the values of an expression lie, whatever the rows hold.

[view.5] A span follows from the text of an expression, of conditions and from declared types, which
are public. It holds every value but missing ones: of operations that are monotone in each argument
the values at the ends are its ends, computed by the operation itself, so that rounding is in them.
What is not certain has no ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

_SLACK = 2.0**-40  # exponentials, logarithms and powers of NumPy are right to a few 2^-52
_EXACT = 2.0**50  # quotients up to here are rounded down exactly
_LARGEST = 2.0**32


class Span(NamedTuple):
    """No value is below ``lo`` or above ``hi``; ``whole``: all finite ones are integers.

    Examples
    --------
    >>> TRUTH.two_valued, Span(0.0, 120.0).usable, ANY.usable
    (True, True, False)
    """

    lo: float
    hi: float
    whole: bool = False

    @property
    def two_valued(self) -> bool:
        """Whether 0 and 1 are the only values."""
        return self == TRUTH

    @property
    def usable(self) -> bool:
        """Whether it can stand for a range that was given.

        One that guards against overflow, and says nothing of the values, has too coarse a step: up
        to 2^32 that is 2^-19 or finer.
        """
        return self.lo < self.hi and max(-self.lo, self.hi) <= _LARGEST

    @property
    def point(self) -> float | None:
        """The only value, if there is one."""
        return self.lo if self.lo == self.hi else None

    def meet(self, other: Span) -> Span:
        """Of values that lie in both."""
        whole = self.whole or other.whole
        return Span(max(self.lo, other.lo), min(self.hi, other.hi), whole)

    def join(self, other: Span) -> Span:
        """Of values that lie in one of them."""
        whole = self.whole and other.whole
        return Span(min(self.lo, other.lo), max(self.hi, other.hi), whole)


ANY, TRUTH = Span(-math.inf, math.inf), Span(0.0, 1.0, True)
WHOLE = ANY._replace(whole=True)

Columns = Mapping[Any, Any]
Spans = Mapping[Any, Span]
Rule = Callable[..., Span]
Narrowing = Callable[["Applied", Spans], Spans]


@dataclass(frozen=True, slots=True)
class LeafPart:
    """A part of an expression that reads a leaf."""

    leaf: Any

    def __call__(self, columns: Columns) -> Any:
        """Return the values in a chunk."""
        return columns[self.leaf]

    def span(self, spans: Spans) -> Span:
        """Return between which numbers they lie."""
        return spans[self.leaf]

    def narrowed(self, spans: Spans) -> Spans:
        """Return the spans of leaves in rows for which it is true."""
        return spans

    def between(self, ends: Span, spans: Spans) -> Spans:
        """Return the spans of leaves in rows in which it lies between ends."""
        return {**spans, self.leaf: spans[self.leaf].meet(ends)}


@dataclass(frozen=True, slots=True)
class NumberPart:
    """A number in an expression; what has a ``key`` may be another one in a column's type."""

    value: np.float64
    key: Any = None

    def __call__(self, columns: Columns) -> Any:
        return self.value if self.key is None else columns.get(self.key, self.value)

    def span(self, spans: Spans) -> Span:
        value = float(self.value)
        return spans.get(self.key) or Span(value, value, value.is_integer())

    def narrowed(self, spans: Spans) -> Spans:
        return spans

    def between(self, _: Span, spans: Spans) -> Spans:
        return spans


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of parts: of their values, and by its rule of their spans.

    ``narrows`` is what follows for the leaves where it is true.
    """

    function: Callable[..., Any]
    parts: tuple[Part, ...]
    rule: Rule | None = None
    narrows: Narrowing | None = None

    def __call__(self, columns: Columns) -> Any:
        return self.function(*(part(columns) for part in self.parts))

    def span(self, spans: Spans) -> Span:
        if self.rule is None:
            return ANY
        with np.errstate(all="ignore"):
            return self.rule(*(part.span(spans) for part in self.parts))

    def narrowed(self, spans: Spans) -> Spans:
        return spans if self.narrows is None else self.narrows(self, spans)

    def between(self, _: Span, spans: Spans) -> Spans:
        return spans


Part = LeafPart | NumberPart | Applied


def all_true(part: Applied, spans: Spans) -> Spans:
    """Where all parts are true."""
    for each in part.parts:
        spans = each.narrowed(spans)
    return spans


def one_true(part: Applied, spans: Spans) -> Spans:
    """Where one of the parts is true, whichever that is."""
    first, *others = (each.narrowed(spans) for each in part.parts)
    for other in others:
        first = {leaf: span.join(other[leaf]) for leaf, span in first.items()}
    return first


def compared(*, least: bool, most: bool) -> Narrowing:
    """Where the left side is no more than the right one, no less than it, or both."""

    def narrows(part: Applied, spans: Spans) -> Spans:
        left, right = part.parts
        for side, other, above, below in ((left, right, least, most), (right, left, most, least)):
            ends = other.span(spans)
            lo, hi = ends.lo if above else -math.inf, ends.hi if below else math.inf
            spans = side.between(Span(lo, hi, ends.whole and above and below), spans)
        return spans

    return narrows


def at_ends(function: Callable[..., Any], *, whole: bool | None = None) -> Rule:
    """The rule of a function that is monotone in each argument, whatever the others are.

    ``whole``: whether its values are integers; by default, if all arguments are. Where an end is
    NaN, as 0 times infinity, values nearby are on both sides of 0.
    """

    def rule(*spans: Span) -> Span:
        corners = product(*({span.lo, span.hi} for span in spans))
        values = [float(function(*map(np.float64, corner))) for corner in corners]
        values = [0.0 if math.isnan(value) else value for value in values]
        integers = all(span.whole for span in spans) if whole is None else whole
        return Span(min(values), max(values), integers)

    return rule


def increasing(function: Callable[..., Any], *, whole: bool | None = None) -> Rule:
    """The rule of a function that grows with each argument; ``whole`` as for :func:`at_ends`."""

    def rule(*spans: Span) -> Span:
        lo, hi = (
            float(function(*map(np.float64, ends)))
            for ends in ([span.lo for span in spans], [span.hi for span in spans])
        )
        return Span(lo, hi, all(span.whole for span in spans) if whole is None else whole)

    return rule


def sum_of(function: Callable[..., Any]) -> Rule:
    """The rule of a sum or a difference: infinity less infinity may be near anything."""
    ends = at_ends(function)

    def rule(a: Span, b: Span) -> Span:
        finite = all(map(math.isfinite, (a.lo, a.hi))) or all(map(math.isfinite, (b.lo, b.hi)))
        one_sided = function is np.add and (
            (a.lo > -math.inf and b.lo > -math.inf) or (a.hi < math.inf and b.hi < math.inf)
        )
        if finite or one_sided:
            return ends(a, b)
        return WHOLE if a.whole and b.whole else ANY

    return rule


def quotient(function: Callable[..., Any], *, down: bool) -> Rule:
    """The rule of a division, which may be rounded ``down``: by what may be 0 it has no ends."""
    ends = at_ends(function, whole=down)

    def rule(a: Span, b: Span) -> Span:
        if b.lo <= 0 <= b.hi:
            return ANY
        if not down:
            return ends(a, b)
        # What is not finite, rounded down, is NaN and not an end.
        if not all(map(math.isfinite, (a.lo, a.hi))):
            return WHOLE
        found = ends(a, b)
        return found if max(-found.lo, found.hi) <= _EXACT else WHOLE

    return rule


def remainder(a: Span, b: Span) -> Span:
    """The rule of a remainder, which has the sign of the divisor, and may be rounded to it."""
    whole = a.whole and b.whole
    return Span(min(b.lo + whole, 0.0), max(b.hi - whole, 0.0), whole)


def power(a: Span, b: Span) -> Span:
    """The rule of a power with a fixed exponent, for which the base has one sign or that is even.

    A negative number has no power that is not whole, and 0 no negative one.
    """
    k = b.point
    if k is None or not math.isfinite(k):
        return ANY
    if not k.is_integer():
        a = Span(max(a.lo, 0.0), max(a.hi, 0.0))
    if k < 0 and a.lo <= 0:
        return ANY
    base = magnitude(a) if k % 2 == 0 else a
    return _wider(at_ends(lambda x: np.power(x, np.float64(k)), whole=False)(base))


def exponential(a: Span) -> Span:
    """The rule of e to the power of something."""
    return _wider(at_ends(np.exp, whole=False)(a))


def logarithm(function: Callable[[Any], Any]) -> Rule:
    """The rule of a logarithm, which only positive numbers have."""

    def rule(a: Span) -> Span:
        lo, hi = (float(function(np.float64(max(end, 0.0)))) for end in (a.lo, a.hi))
        return _wider(Span(lo, hi))

    return rule


def _wider(span: Span) -> Span:
    below, above = (abs(end) * _SLACK if math.isfinite(end) else 0.0 for end in span[:2])
    return Span(span.lo - below, span.hi + above)


def magnitude(a: Span) -> Span:
    """The rule of an absolute value."""
    sizes = (abs(a.lo), abs(a.hi))
    return Span(0.0 if a.lo <= 0 <= a.hi else min(sizes), max(sizes), a.whole)


def root(a: Span) -> Span:
    """The rule of a square root, which negative numbers have not."""
    return Span(math.sqrt(max(a.lo, 0.0)), math.sqrt(max(a.hi, 0.0)))


def rounded(function: Callable[..., Any]) -> Rule:
    """The rule of rounding to a fixed number of digits."""

    def rule(a: Span, digits: Span = Span(0.0, 0.0)) -> Span:  # noqa: B008 -- immutable
        point = digits.point
        if point is None or math.isnan(point):
            return ANY
        return at_ends(lambda x: function(x, np.float64(point)), whole=not point)(a)

    return rule


def either(first: Span, *others: Span) -> Span:
    """The rule of what is one of its parts."""
    for other in others:
        first = first.join(other)
    return first


def of_moments(function: Callable[..., Any]) -> Rule:
    """The rule of a part of a date that grows with it."""
    ends = increasing(function, whole=True)

    def rule(a: Span) -> Span:
        return ends(a) if math.isfinite(a.lo) and math.isfinite(a.hi) else WHOLE

    return rule


def always(span: Span) -> Rule:
    """The rule of what has a span of its own, whatever its arguments are."""
    return lambda *_: span


def declared(kind: str) -> Span:
    """Return between which numbers the values of a declared type lie.

    Types of eight bits are narrow enough to stand for a range: of 100 to 1,000 rows a mean within
    one is usable where a range that is found has too few, or its interval is half as long. Within
    16 bits, a hundred rows get noise on the scale of the type, and rare values are missed.

    Examples
    --------
    >>> declared("Int8"), declared("boolean"), declared("int64").usable
    (Span(lo=-128.0, hi=127.0, whole=True), Span(lo=0.0, hi=1.0, whole=True), False)
    """
    name = kind.lower().removesuffix("[pyarrow]")
    if name in {"bool", "boolean"}:
        return TRUTH
    if name in {"int8", "tinyint"}:
        return Span(-128.0, 127.0, True)
    if name in {"uint8", "utinyint"}:
        return Span(0.0, 255.0, True)
    return WHOLE if "int" in name else ANY
