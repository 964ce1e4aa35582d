"""Whether a released answer can be used: a short stable code, and words that say why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["OK", "USABLE", "Code", "Status"]

Code = Literal[
    "ok",
    "heavy_tail",
    "range_end",
    "wide_noise",
    "partial",
    "few_records",
    "clipped",
    "no_values",
    "coarse_step",
]

# Codes of answers that can be used, with care where it is not "ok".
USABLE: frozenset[str] = frozenset({"ok", "heavy_tail", "range_end", "wide_noise", "partial"})


@dataclass(frozen=True, slots=True)
class Status:
    """What released numbers say of an answer; it never depends on anything else.

    Attributes
    ----------
    code : str
        Usable are ``"ok"``; ``"heavy_tail"``: the default interval may be too short;
        ``"range_end"``: the interval reaches an end of the range; ``"wide_noise"``: the noise
        follows the range or the size of the values, not their spread; ``"partial"``: some of
        several numbers are lost, the words say which. Not usable are ``"few_records"``: too
        little data for this budget; ``"clipped"``: too many records lie beyond the
        clipping bounds; ``"no_values"``: the column seems to hold no numbers; ``"coarse_step"``:
        the values are as small as the step that they are rounded to.
    words : str
        For people; ``"ok"`` if there is nothing to say.
    """

    code: Code
    words: str

    @property
    def ok(self) -> bool:
        """Whether there is nothing to say."""
        return self.code == "ok"

    def filled(self, **names: object) -> Status:
        """Fill in names in the words."""
        return replace(self, words=self.words.format(**names))


OK = Status("ok", "ok")
