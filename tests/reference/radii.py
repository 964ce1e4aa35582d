"""Local sensitivities by trying everything: the least radii of Asi and Duchi 2020, Theorem 1."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Data = tuple[float, ...]
Value = tuple[int, ...]


def added_or_removed(data: Data, points: Sequence[float]) -> Iterator[Data]:
    for x in points:
        yield tuple(sorted((*data, x)))
    for i in range(len(data)):
        yield data[:i] + data[i + 1 :]


def exchanged(data: Data, points: Sequence[float]) -> Iterator[Data]:
    for i in range(len(data)):
        for x in points:
            yield tuple(sorted((*data[:i], x, *data[i + 1 :])))


@dataclass
class Sensitivity:
    """How far one step moves an integer vector, on data and on all data near them."""

    value: Callable[[Data], Value]
    points: Sequence[float]
    norm: int
    steps: Callable[[Data, Sequence[float]], Iterator[Data]] = added_or_removed
    known: dict[Data, int] = field(default_factory=dict)

    def local(self, data: Data) -> int:
        """The least integer that is no less than the local sensitivity."""
        if data not in self.known:
            here = self.value(data)
            moved = [self.distance(here, self.value(o)) for o in self.steps(data, self.points)]
            self.known[data] = max(moved, default=0)
        return self.known[data]

    def distance(self, one: Value, other: Value) -> int:
        total = sum(abs(a - b) ** self.norm for a, b in zip(one, other, strict=True))
        return total if self.norm == 1 else math.isqrt(total - 1) + 1 if total else 0

    def radii(self, data: Data, levels: int) -> tuple[int, ...]:
        """R_k: the largest local sensitivity within k - 1 steps."""
        found, ball, rim = [], {data}, {data}
        for _ in range(levels):
            found.append(max([*found[-1:], *(self.local(each) for each in rim)]))
            rim = {o for each in rim for o in self.steps(each, self.points)} - ball
            ball |= rim
        return tuple(found)
