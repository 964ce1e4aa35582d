"""What releases of one number gave, beside the truth: errors, coverage and what was said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.kinds import Floats
from benchmarks.methods import CachedReader
from benchmarks.quantiles import answers
from benchmarks.targets import Target
from modicum import Query
from modicum.releases.release import Release
from modicum.releases.status import USABLE, judged

FAR = 10  # half-widths
_DRAWS = 400


class Seen(NamedTuple):
    """What a release says: its value, its 95 % interval, its code."""

    value: float
    lower: float
    upper: float
    code: str

    @classmethod
    def of(cls, release: Any) -> "Seen":
        """What a release of one number says."""
        return cls(float(release.value), *release.interval(), release.code)

    @classmethod
    def of_estimate(cls, answer: Any) -> "Seen":
        """What an estimate of one number says, before it is a release."""
        code = judged(answer.status, answer.error_model).code
        return cls(float(answer.value), *answer.interval(), code)


Ask = Callable[[Query, Floats, str], Seen]
"""Answers a question of some data with randomness from a seed."""


def released(question: Query[Release], x: Floats, seed: str) -> Seen:
    """Release once."""
    (answer,) = answers(question, CachedReader(x), seed, 1)
    return Seen.of_estimate(answer)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Releases of one statistic of one kind of data, beside the truth of each.

    Attributes
    ----------
    errors, truths : array of float
        Absolute errors, and what was asked for.
    held, fine, usable, far : array of bool
        Whether the interval holds; whether the code is "ok"; or one that can be used; whether the
        code is "ok" and the truth lies beyond ten half-widths of the interval.
    """

    errors: Floats
    truths: Floats
    held: NDArray[np.bool_]
    fine: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    far: NDArray[np.bool_]

    @classmethod
    def of(cls, seen: Sequence[Seen], truth: Sequence[float]) -> "Outcomes":
        """Judge releases."""
        truths = np.array(truth, dtype=np.float64)
        value, lower, upper = np.array([each[:3] for each in seen], dtype=np.float64).T
        errors, held = np.abs(value - truths), (lower <= truths) & (truths <= upper)
        fine = np.array([each.code == "ok" for each in seen])
        usable = np.array([each.code in USABLE for each in seen])
        far = fine & ~held & (errors / FAR > upper / 2 - lower / 2)
        return cls(errors, truths, held, fine, usable, far)

    @property
    def relative(self) -> Floats:
        """Errors over the truth, where it is not 0."""
        return self.errors / np.where(self.truths == 0, 1.0, np.abs(self.truths))

    @property
    def unsaid(self) -> float:
        """Share of the releases that miss; if 95 % of these are not "ok", of the others only."""
        silent = float((~self.held & self.fine).mean())
        missed = float((~self.held).mean())
        return silent if silent <= 0.05 * missed else missed

    def ratio(self, reference: "Outcomes") -> tuple[float, float]:
        """Median error over that of others, and how far below its 95 % interval reaches."""
        return low(
            lambda ours, others: _over(float(np.median(ours)), float(np.median(others))),
            self.errors,
            reference.errors,
        )

    def cells(self) -> list[str]:
        """Coverage, codes and misses for a table."""
        shares = (self.held, self.fine, self.usable)
        return [*(f"{share.mean():.2f}" for share in shares), str(int(self.far.sum()))]


def _over(one: float, other: float) -> float:
    return one / other if other else float("inf") if one else 1.0


def low(measure: Callable[..., float], *samples: Floats) -> tuple[float, float]:
    """Return a measure of samples, and how far below its 95 % interval (bootstrap) reaches."""
    rng, found = default_rng(19), measure(*samples)
    if not np.isfinite(found):
        return found, 0.0
    drawn = [
        measure(*(sample[rng.integers(len(sample), size=len(sample))] for sample in samples))
        for _ in range(_DRAWS)
    ]
    return found, max(0.0, found - float(np.quantile(drawn, 0.025)))


def far_target(name: str, found: Sequence[Outcomes]) -> Target:
    """No release says "ok" and misses by more than ten half-widths."""
    releases = sum(len(each.far) for each in found)
    far = sum(int(each.far.sum()) for each in found)
    note = f"of {releases:,} releases"
    return Target(f"{name}, misses by ten half-widths with code ok", 0, far, "", note=note)
