"""Whether a released answer can be used: a short stable code, and words that say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Code = Literal[
    "ok",
    "heavy_tail",
    "range_end",
    "wide_noise",
    "unseen",
    "partial",
    "left_out",
    "few_records",
    "clipped",
    "no_values",
    "coarse_step",
]

# Codes of answers that can be used, with care where it is not "ok".
USABLE: frozenset[str] = frozenset(
    {"ok", "heavy_tail", "range_end", "wide_noise", "unseen", "partial", "left_out"}
)


@dataclass(frozen=True, slots=True)
class Status:
    """What released numbers say of an answer; it never depends on anything else.

    Attributes
    ----------
    code : str
        Usable are ``"ok"``; ``"heavy_tail"``: the tail looks so heavy that the default interval may
        be too short; ``"range_end"``: the interval reaches an end of the range; ``"wide_noise"``:
        the noise follows the range or the size of the values, not their spread; ``"unseen"``: in so
        wide a range a good part of the records could be far from the others unseen, or nothing
        tells whether the tail is heavier than the interval assumes, or intervals of a regression
        have no ends; ``"partial"``: some of several
        numbers are lost, the words say which; ``"left_out"``: rows or groups of a person beyond a
        limit are neither in the answer nor in its interval. Not usable are ``"few_records"``: too
        little data for this budget; ``"clipped"``: too many records lie beyond the clipping bounds;
        ``"no_values"``: of a CSV file, the released count cannot be distinguished from 0, so the
        column may be text; ``"coarse_step"``: the answer is as small as the step that values are
        rounded to.
    words : str
        For people; ``"ok"`` if there is nothing to say.
    """

    code: Code
    words: str

    @property
    def ok(self) -> bool:
        """Whether there is nothing to say."""
        return self.code == "ok"

    @property
    def without_range(self) -> Status:
        """The same in words for what has no range, so that none can be narrowed.

        Examples
        --------
        >>> Status("few_records", "too little data; narrow `within` or spend more").without_range
        Status(code='few_records', words='too little data; spend more')
        """
        words = self.words
        for of_range, otherwise in _OF_RANGES.items():
            words = words.replace(of_range, otherwise)
        return self if words == self.words else replace(self, words=words)

    def of_persons(self, column: str) -> Status:
        """The same of persons with all their rows, if it is about a tail: theirs is of totals.

        Examples
        --------
        >>> Status("heavy_tail", "").of_persons("p").words.partition(":")[0]
        'some persons (p) seem to add up to far more than the others'
        >>> OK.of_persons("p") == OK
        True
        """
        if self.code not in _TAILS:
            return self
        words = _TAILS[self.code].format(person=f"persons ({column})", once=repr(column))
        return replace(self, words=words)

    def filled(self, **names: object) -> Status:
        """Fill in names in the words."""
        return replace(self, words=self.words.format(**names))


OK = Status("ok", "ok")

_SHORTER = (
    "for a shorter one, unit_of({once}, combine='mean') counts each person once, and max_rows=20 "
    "leaves out their further rows"
)
_TAILS: Mapping[str, str] = {
    "heavy_tail": "some {person} seem to add up to far more than the others: the interval is wide "
    "because it allows for persons with still more, and not for extreme ones; " + _SHORTER,
    "unseen": "at this budget the data cannot show whether a few {person} add up to far more than "
    "the others: the interval allows for some, and not for extreme ones; a larger budget shortens "
    "it; " + _SHORTER,
}

_OF_RANGES = {
    "for this range and budget": "for this budget",
    "narrow `within` or spend more": "spend more",
    "a larger budget or a narrower `within` helps": "a larger budget helps",
    "clusters='keep', a narrower `within` or a larger budget may reach it": (
        "a larger budget may reach it"
    ),
    "leave out `within`, or choose a wider one": "limit them, by max_rows= of unit_of()",
    "give `within`, a public range, or spend more": "spend more",
}

FINE_STEPS = 1 << 20  # a released size of more steps than these has six sure digits
FEW_STEPS = 8  # rounding moves what is no larger by 6 % and more
_MOST_UNSEEN = 3000
NO_VALUES = Status(
    "no_values",
    "few or no numbers were found: the released count cannot be distinguished from 0; `modicum "
    "check FILE COLUMN` shows the keeper of the file what the column holds",
)
COARSE = Status(
    "coarse_step",
    "the answer is as small as the step {step:g} that values are rounded to; narrow `within`, "
    "which has a finer step",
)

_AS_ONE = Status(
    "coarse_step",
    "most values lie within a few steps of each other, and are rounded to multiples of {step:g}: "
    "subtract a public number from the column first",
)

_ALIKE = Status(
    "wide_noise",
    "nearly all values seem to be equal; the interval allows for others anywhere in the range, "
    "which is wide beside them: narrow `within`",
)
_MUCH = 100  # times the answer: an interval that is wider is about the range


def alike(lattice: Any, value: float, ends: tuple[float, float], *, equal: bool = True) -> Status:
    """Warn of an interval that is about the range, where nearly all records seem to be equal.

    If the answer is not that value (``equal``), but noise besides, no longer interval is near it.
    0 to 1 is the range of shares and truth values, and as wide as they are.
    """
    near = (_MUCH if equal else 1) * abs(value) + FEW_STEPS * float(lattice.step)
    return OK if (lattice.lo, lattice.hi) == (0, 1) or ends[1] - ends[0] <= near else _ALIKE


_AT_END = Status(
    "range_end",
    "the answer lies at the end {end:g} of the range: if values may lie beyond it, or are in "
    "another unit, widen `within`",
)
_NEAR_END = 1 / 16  # of the range: an interval that is longer says little


def at_an_end(lattice: Any, lower: float, upper: float) -> Status:
    """Warn of an interval that reaches an end of the range and lies close to it.

    Values beyond a range count as its ends, and released numbers are all that could tell. 0 is the
    natural end of most counts and amounts, and both ends of (0, 1) those of shares: at these
    there is nothing to say.
    """
    lo, hi = float(lattice.lo), float(lattice.hi)
    if (lo, hi) == (0, 1) or upper - lower > _NEAR_END * (hi - lo):
        return OK
    ends = [end for end, reached in ((lo, lower <= lo), (hi, upper >= hi)) if reached and end]
    return _AT_END.filled(end=ends[0]) if ends else OK


def unseen(count: float, bound: float) -> bool:
    """Whether a released count cannot be distinguished from 0.

    Its noise exceeds ``bound`` once in ten. If that is thousands of records, the budget is what is
    small, whatever the column holds.
    """
    return count <= bound <= _MOST_UNSEEN


def hardly_seen(count: float, bound: float) -> bool:
    """Whether a released count is so small that a column of no declared type may be text.

    The noise of a count exceeds three times what it exceeds once in ten at most once in a thousand:
    that is Laplace noise, and others have lighter tails. So a thousand questions about a column of
    text have one answer, and not two.
    """
    return count <= 3 * bound and bound <= _MOST_UNSEEN


def judged(status: Status, error_model: Any, *, typed: bool = True, stated: bool = False) -> Status:
    """The estimator's status, or what the released numbers of any statistic may warn of instead.

    The error model's property ``few_seen``, if it has one, is whether the released count is
    :func:`hardly_seen`. An answer that can be used stays so however few records there are, but for
    one that noise over the whole range explains: the property ``perhaps_nothing``, of sums.
    ``typed`` says whether the column is declared to hold numbers: then there are too few, and it is
    not text. ``stated``: nothing lies beyond the range, see [view.5], so that its ends are no
    surprise.

    The property ``in_steps``, if it has one, is how large what was released is, in steps of its
    ``lattice``: one number, or one for each part of the answer; 0 if it may be that small because
    the values are 0, which does not depend on the step. An answer as small as the step is warned
    of, unless the step was chosen wider than it has to be, which is not a surprise. So are values
    that lie :func:`as_one`: the property ``places``, if it has one, is what was released of where
    most of them are, in steps.
    """
    nothing = status.code == "wide_noise" and getattr(error_model, "perhaps_nothing", False)
    doubtful = not typed and (nothing or status.code not in USABLE)
    if doubtful and getattr(error_model, "few_seen", False):
        return NO_VALUES
    if stated and status.code == "range_end":
        return OK
    if status.code == "few_records":
        return status
    largest = max(getattr(error_model, "in_steps", ()), default=0)
    if 0 < largest <= FEW_STEPS and not error_model.lattice.coarse:
        return COARSE.filled(step=error_model.lattice.step)
    places = getattr(error_model, "places", ())
    one = as_one(error_model.lattice, places) if places and status.code in USABLE else OK
    return status if one.ok else one


def as_one(lattice: Any, places: Sequence[int]) -> Status:
    """Warn of released places that are a few steps apart, and far from 0, if a step is above 1.

    So are integers near 2^53 in a range that was found: they are told apart before rounding, and
    not after it. Finer steps hold integers as they are.
    """
    if len(places) < 2 or lattice.step <= 1 or lattice.coarse:
        return OK
    near = max(places) - min(places) <= FEW_STEPS and min(map(abs, places)) >= FINE_STEPS
    return _AS_ONE.filled(step=lattice.step) if near else OK


def bounds_in_steps(lo: int, hi: int) -> tuple[int, ...]:
    """How large the larger of two released bounds is, in steps; 0 if zeros may be why it is small.

    For the property ``in_steps`` of :func:`judged`.
    """
    furthest = max(abs(lo), abs(hi))
    return (furthest if furthest >= FINE_STEPS or not lo <= 0 <= hi else 0,)


def or_hidden(lattice: Any, steps: int) -> int:
    """How large an answer that may be 0 is, in steps; not 0 where a step hides all integers too.

    In a given range with a step above 1 an answer of 0 says less than that values are 0.
    """
    return max(steps, 1) if lattice.step > 1 and lattice.floor == 1 else steps


def step_words(error_model: Any, lattice: Any) -> str:
    """How coarse the step is beside what was released, see :func:`judged`; or nothing."""
    sizes = getattr(error_model, "in_steps", ())
    if not sizes or min(sizes) >= FINE_STEPS:
        return ""
    if lattice.coarse:
        return f"{lattice.step:g}, as asked for"
    if not max(sizes):
        return f"{lattice.step:g}: values that differ by less may count as equal"
    return (
        f"{lattice.step:g}, coarse beside the released numbers; "
        "a narrower `within` gives a finer step"
    )
