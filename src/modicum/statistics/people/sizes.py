"""How many records have which size: numbers of rows of persons, or weights, in one vector.

A record is in one octave of sizes, so the vector changes by one number. It says which size few
exceed, how many are near that, as in [window.7], and whether the sizes look as if a few records may
be a good part of all: then those may add up to more than any number near a bound tells.
docs/research/proofs/people.md has the proof, under [people.5].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from modicum.mechanisms.additive import Noise, add_noise
from modicum.privacy.split import BudgetSplit
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.people.persons import MOST_OCTAVES
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.split import expected_records
from modicum.statistics.tails.rings import Rings
from modicum.summaries.sums import BinCounts

TOO_FEW = Status(
    "few_records",
    "too few records for this budget to find how many rows they have, or how large their weights "
    "are: spend more",
)
LARGER = Status(
    "clipped",
    "some records have far more rows, or far larger weights, than half of them: they may be most "
    "of the answer, which leaves them out",
)
ROWS_OF_PERSONS = tuple(1 << octave for octave in range(MOST_OCTAVES + 1))
"""Ends of the octaves of numbers of rows."""


@dataclass(frozen=True, slots=True)
class SizeTuning:
    """What is drawn of sizes, and read off. Strengths are in units of the scale of the noise.

    Chosen on made-up persons, with geometric, Poisson, Zipf and Pareto numbers of rows, looked at
    on public tables. None affects privacy.
    """

    strength: float = 0.06
    """Of the vector."""
    falling: tuple[float, float, float] = (2000.0, 0.4, 0.3)
    """From so many records per unit of noise on it falls with that power, to that part of it."""
    near: tuple[int, float] = (2, 0.02)
    """So many octaves further on there are records, if noise exceeds them so rarely."""
    clear: float = 4.5e-5
    """The same of octaves anywhere."""
    heavy: tuple[float, float] = (0.3125, 0.37)
    """The tail is heavy if so large a part of the last clear octave's records are in the next two,
    or may be but for noise that is exceeded so often: of a tail of index 2 so many are."""
    least: float = 120.0
    """Radii that may be clipped then, per unit of noise."""


SIZES = SizeTuning()


class Named(NamedTuple):
    """What records and their sizes are called in labels."""

    records: str
    sizes: str


PERSONS = Named("persons", "rows")


class Sizes(NamedTuple):
    """A size that few records exceed, about ``beyond`` at most, and how many are near it.

    ``status`` says whether the octaves that have records were told from noise.
    """

    most: int
    beyond: int
    rings: Rings
    status: Status


def falling(split: BudgetSplit, number: int) -> float:
    """What part of a strength so many records get, of which more need less."""
    begin, power, least = SIZES.falling
    return min(max(math.pow(begin / expected_records(split, number), power), least), 1.0)


def by_size(
    here: Setting, number: int, ends: tuple[int, ...] = ROWS_OF_PERSONS, named: Named = PERSONS
) -> Steps[Sizes]:
    """[people.5] A size that few of so many records exceed, and how many are near it.

    ``ends`` are those of octaves of sizes, whose sign does not matter, in steps.
    """
    split, both = here.split, here.lattice.first < 0
    edges = tuple(-end for end in reversed(ends)) * both + tuple(end + 1 for end in ends)
    counts = (yield from read(here.ask(BinCounts(edges)))).counts
    strength = SIZES.strength * falling(split, number)
    share = split.share(split.part_for(strength, "noise"))
    mechanism = split.spend(add_noise(_folded(counts, len(ends)), share, sensitivity=1))
    noise, words = mechanism.noise[0], here.lattice.words
    numbers = yield from draw(
        f"{named.records} by {named.sizes}",
        mechanism,
        lambda drawn: f"few have more than {words(ends[_last(drawn, noise)])}",
    )
    top, clear, scale = _last(numbers, noise), _clear(numbers, noise), float(split.scale)
    part, often = SIZES.heavy
    further = sum(numbers[clear + 1 : clear + 3]) + noise.tail_bound(often)
    heavy = further > part * numbers[clear]
    near = (numbers[top - 1] if top else 0) * scale, numbers[top] * scale, numbers[top + 1] * scale
    rings = Rings(((0.0, 0.0, 0.0), near), number * scale, scale, least=SIZES.least * heavy)
    beyond = math.ceil(noise.tail_bound(SIZES.near[1]))
    status = LARGER if numbers[-1] > noise.tail_bound(SIZES.clear) else OK
    if numbers[clear] <= beyond:
        top, status = 0, TOO_FEW
    return Sizes(ends[top], beyond, rings, status)


def _folded(counts: tuple[int, ...], octaves: int) -> tuple[int, ...]:
    """The numbers of records by the octaves of their sizes, those of both signs together."""
    numbers = [int(each) for each in counts]
    if len(numbers) == octaves + 1:
        return tuple(numbers)
    below, within, above = numbers[octaves - 1 :: -1], numbers[octaves], numbers[octaves + 1 :]
    return (within, *map(sum, zip(below, above, strict=True)))


def _clear(numbers: tuple[int, ...], noise: Noise) -> int:
    """The last octave with far more records than noise explains, or that with most."""
    least, places = noise.tail_bound(SIZES.clear), range(len(numbers) - 1)
    clear = [place for place in places if numbers[place] > least]
    return clear[-1] if clear else max(places, key=numbers.__getitem__)


def _last(numbers: tuple[int, ...], noise: Noise) -> int:
    """The last octave with more records than noise explains, not far beyond a clear one."""
    top, (octaves, rarely) = _clear(numbers, noise), SIZES.near
    least = noise.tail_bound(rarely)
    for place in range(top + 1, len(numbers) - 1):
        if numbers[place] > least and place <= top + octaves:
            top = place
    return top
