"""Synthetic rows of several columns, and releases from them that cost nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.frames.base import open_source
from modicum.frames.persons import TableReader
from modicum.privacy.unit import Unit
from modicum.release import Entry
from modicum.runners.live import run
from modicum.runners.request import ArrayRequest
from modicum.steps import Ask

__all__ = ["CountingReader", "is_number", "normal", "released"]

Floats = NDArray[np.float64]


class CountingReader(TableReader):
    """Reads synthetic rows, and counts the passes."""

    __slots__ = ("passes",)

    def __init__(self, x: Floats) -> None:
        super().__init__(open_source(x))
        self.passes = 0

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the asks."""
        self.passes += 1
        return super().read(asks, entropy)


def released(
    question: ArrayRequest, reader: TableReader, unit: Unit, number: int
) -> tuple[ArrayAnswer, tuple[Entry, ...]]:
    """Answer a question with the draws of one of several runs."""
    entropy = SeededEntropy(f"plan {number}")
    walk = run({"plan": question}, reader, unit=unit, charge=lambda: None, entropy=entropy)["plan"]
    assert isinstance(walk.answer, ArrayAnswer)
    return walk.answer, tuple(walk.journal)


def normal(rows: int, width: int, entropy: SeededEntropy) -> Floats:
    """Independent standard normal numbers, by Box and Muller."""
    half = (rows * width + 1) // 2
    uniform = ((entropy.words(2 * half) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    radius, angle = np.sqrt(-2 * np.log(uniform[:half])), 2 * np.pi * uniform[half:]
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[: rows * width].reshape(rows, width)


def is_number(x: Any) -> bool:
    """Whether it is a finite number."""
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
