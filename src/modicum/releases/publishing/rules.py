"""Which released numbers are left out of a published table, and which are marked.

Rules look at released numbers alone, so they cost nothing; nor do they protect anybody: that is
what the noise does. They keep readers from numbers that say little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

from modicum.errors import InvalidArgument, as_given, did_you_mean
from modicum.releases.status import USABLE

NORMAL, DOUBTFUL, SUPPRESSED = "A", "U", "Q"
LEGEND = {
    NORMAL: "normal value",
    DOUBTFUL: "low reliability: the column reason says why",
    SUPPRESSED: "missing value, suppressed: the column reason says why",
}
"""Flags, as in the code list of observation states of SDMX (CL_OBS_STATUS)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a number is left out, or marked.

    ``below``: it is less than that; ``wider``: its interval is wider than this share of its size;
    ``unusable``: its answer cannot be used.

    Examples
    --------
    >>> few = Rules.of({"below": 10, "wider": 0.5}, "suppress", unusable=True)
    >>> few.reason(12.0, (4.0, 20.0), "ok"), few.reason(7.0, (6.0, 8.0), "ok")
    ('wider', 'below')
    """

    below: float | None = None
    wider: float | None = None
    unusable: bool = False

    @classmethod
    def of(cls, given: Mapping[str, object] | None, name: str, *, unusable: bool) -> Rules:
        """Read an argument; ``unusable`` is its default, and only the one of that is read."""
        if given is None:
            return cls(unusable=unusable)
        if not isinstance(given, Mapping):
            raise InvalidArgument(
                f'{name} must be rules such as {{"below": 10, "wider": 0.5}}, got {as_given(given)}'
            )
        known = ["below", "wider", *(["unusable"] if unusable else [])]
        for rule in given:
            if rule not in known:
                meant = did_you_mean(str(rule), known)
                raise InvalidArgument(
                    f"{name} has no rule {as_given(rule)}{meant}: there are {', '.join(known)}"
                )
        use = given.get("unusable", unusable)
        if not isinstance(use, bool):
            raise InvalidArgument(f"{name}: unusable must be True or False, got {as_given(use)}")
        least, share = (_number(given.get(rule), f"{name}: {rule}") for rule in ("below", "wider"))
        if share is not None and share <= 0:
            raise InvalidArgument(f"{name}: wider must be a positive share, got {as_given(share)}")
        return cls(least, share, use)

    def reason(self, value: float, interval: tuple[float, float], code: str) -> str | None:
        """Which rule a number falls under; ``None`` if it falls under none."""
        lower, upper = interval
        if self.unusable and code not in USABLE:
            return code
        if self.below is not None and value < self.below:
            return "below"
        if self.wider is not None and upper - lower > self.wider * abs(value):
            return "wider"
        return None

    @property
    def words(self) -> list[str]:
        """The rules, each in words."""
        said = {
            "answers that cannot be used": self.unusable,
            f"values below {self.below or 0:g}": self.below is not None,
            f"intervals wider than {self.wider or 0:g} times the size of the value": self.wider,
        }
        return [words for words, holds in said.items() if holds]


def _number(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InvalidArgument(f"{name} must be a number, got {as_given(value)}")
    return float(value)
