"""Clients' vectors as integers: rotated, about a centre, and what three rounds ask about them.

What mean vectors without and with a shuffler have in common.
"""

from __future__ import annotations

import hashlib
import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.local.arguments import Floats, Integers, numbers_of
from modicum.local.frequency import TreeRound
from modicum.local.protocol import Answers
from modicum.local.tree import BRANCHING, Shares, TreeCells, heaviest
from modicum.local.wire import Announcement

__all__ = ["CENTRES", "MEANS", "NORMS", "VectorEstimate", "Vectors", "centres"]

CENTRES, NORMS, MEANS = 1, 2, 3  # the rounds
_LARGEST_RADIUS = 1 << 62  # about a centre that is announced, in steps after the rotation
_BITS = 24  # of a coordinate within the radius
_OCTAVES = 32  # of norms that are told apart
_SMALLEST = 1 << 20  # the least norm told apart, as a part of the farthest place
_LEVELS = 11  # of the tree over a coordinate: cells of some millionths of the radius
_REACH = 4  # nodes of the level where people spread, around the heaviest path, that are searched
_FINE = 8  # places that are tried, for each such node
_SPREADS = tuple(2 ** (k / 2 - 3.5) for k in range(11))  # scales that are tried, in such nodes
_FITTED = -1, 0, 1, 2  # levels about that one, which take part in the fit


@dataclass(frozen=True, slots=True, eq=False)
class VectorEstimate:
    """A mean vector from randomised messages.

    Attributes
    ----------
    values : (d,) float array
    standard_error : float
        Of every coordinate, from the noise that was added; not of clipping.
    radius : float
        Distance from the centre to which vectors were clipped.
    clients : tuple of int
        Answers in the three rounds.
    """

    values: NDArray[np.float64]
    standard_error: float
    radius: float
    clients: tuple[int, int, int]


def signs(seed: bytes, dimension: int) -> Integers:
    """Return the random signs of a rotation, shape (dimension,), each +1 or -1."""
    drawn = hashlib.shake_256(b"modicum.local/1 signs" + seed).digest(dimension)
    return 1 - 2 * (np.frombuffer(drawn, np.uint8) & 1).astype(np.int64)


def padded(dimension: int) -> int:
    """Return the power of two that vectors are padded to."""
    return 1 << (dimension - 1).bit_length()


def hadamard(rows: Integers) -> Integers:
    """Multiply rows (n, 2^k) by the Hadamard matrix, entries ±1.

    Examples
    --------
    >>> import numpy as np
    >>> hadamard(np.array([[1, 2, 3, 4]])).tolist()
    [[10, -2, -4, 0]]
    """
    count, dimension = rows.shape
    half = 1
    result = rows.copy()
    while half < dimension:
        blocks = result.reshape(count, dimension // (2 * half), 2, half)
        sums, gaps = blocks[:, :, 0] + blocks[:, :, 1], blocks[:, :, 0] - blocks[:, :, 1]
        result = np.stack([sums, gaps], axis=2).reshape(count, dimension)
        half *= 2
    return result


def rotated(rows: Integers, seed: bytes) -> Integers:
    """Pad vectors with zeros, flip signs, multiply by the Hadamard matrix: exact integers.

    Norms grow by sqrt(d'), d' the padded dimension (Huang, Liang and Yi 2021, section 3.3).
    """
    count, dimension = rows.shape
    wide = np.zeros((count, padded(dimension)), np.int64)
    wide[:, :dimension] = rows
    return hadamard(wide * signs(seed, wide.shape[1]))


def unrotated(vector: Floats, seed: bytes, dimension: int) -> Floats:
    """Undo the rotation of one vector."""
    width = len(vector)
    matrix = hadamard(np.eye(width, dtype=np.int64))
    return (matrix @ vector / width * signs(seed, width))[:dimension]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of norm at most ``radius`` on a grid, and their public rotation."""

    seed: bytes  # of the rotation's signs
    dimension: int
    radius: float
    octave: int  # cells of norms in which a norm doubles

    def __post_init__(self) -> None:
        if type(self.dimension) is not int or not 1 <= self.dimension <= 2048:
            raise InvalidArgument(
                f"dimension must be an integer from 1 to 2048, got {self.dimension!r}"
            )
        number = isinstance(self.radius, numbers.Real) and not isinstance(self.radius, bool)
        if not number or not 2.0**-900 < self.radius < 2.0**900:
            raise InvalidArgument(f"radius must be between 2^-900 and 2^900, got {self.radius!r}")

    @property
    def lattice(self) -> Lattice:
        """Grid of a coordinate: 2^-24 of the radius."""
        step = math.ldexp(1.0, math.frexp(self.radius)[1] - _BITS)
        return Lattice.within((-self.radius, self.radius), step)

    @property
    def width(self) -> int:
        """Coordinates after the rotation, a power of two."""
        return padded(self.dimension)

    @property
    def places(self) -> TreeCells:
        """Cells of a rotated coordinate, at most 4^11.

        The rotation is not scaled down. A vector of norm R then has coordinates up to R sqrt(d'),
        and beyond 5 R with probability 2 e^-12.5 (Hoeffding): there they are cut, for the centre.
        """
        reach = math.ceil(min(5.0, math.sqrt(self.width)) * self.lattice.last)
        return TreeCells.of(-reach, reach, BRANCHING**_LEVELS)

    @property
    def least_norm(self) -> float:
        """Norm about the centre below which none are told apart."""
        return max(1.0, self.places.last / _SMALLEST)

    def check(self, said: Announcement, *, counted: bool) -> None:
        """Refuse what cannot be announced: nothing, then a centre, then a centre and a radius.

        If answers are ``counted``, as many counts follow as there were rounds.
        """
        centre, rest = said.parameters[: self.width], said.parameters[self.width :]
        counts = (said.round - 1) * counted
        fits = {
            CENTRES: not said.parameters,
            NORMS: len(rest) == counts,
            MEANS: len(rest) == 1 + counts and 0 < rest[0] <= _LARGEST_RADIUS,
        }.get(said.round, False)
        near = len(centre) == self.width and all(abs(x) <= self.places.last for x in centre)
        if not fits or not (near or said.round == CENTRES):
            raise InvalidArgument("the announcement does not fit this mean of vectors")

    def read(self, values: Any) -> Floats:
        """Read one vector for each client; a missing coordinate becomes 0."""
        x = numbers_of(values)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise InvalidArgument(
                f"values must have the shape (n, {self.dimension}), got {x.shape}"
            )
        return np.where(np.isnan(x), 0.0, x)

    def rows(self, values: Floats, said: Announcement) -> Integers:
        """Return cells of rotated coordinates, then of a norm, then vectors about the centre."""
        q = self.lattice.quantise(values.ravel()).reshape(values.shape)
        shifted = rotated(q, self.seed)
        if said.round == CENTRES:
            return self.places.of_integers(shifted)
        shifted -= np.array(said.parameters[: self.width], np.int64)
        return self.norm_cells(shifted)[:, None] if said.round == NORMS else shifted

    def norm_cells(self, shifted: Integers) -> Integers:
        """Return the cells of norms, ``octave`` of them for each doubling."""
        norms = np.sqrt((shifted.astype(np.float64) ** 2).sum(axis=1))
        places = np.floor(self.octave * np.log2(np.maximum(norms / self.least_norm, 1.0)))
        found: Integers = np.minimum(places, _OCTAVES * self.octave - 1).astype(np.int64)
        return found

    def edge(self, place: float) -> int:
        """Return the norm at a place between cells of norms."""
        return math.ceil(self.least_norm * 2 ** (place / self.octave))

    def restored(self, vector: Floats) -> Floats:
        """Undo the rotation, in the unit of the data."""
        return unrotated(vector, self.seed, self.dimension) * self.lattice.step


def centres(asked: TreeRound, answers: Answers, cells: TreeCells) -> list[int]:
    """Return a point amid the people for each coordinate, in lattice integers.

    Notes
    -----
    [C1] The heaviest path, from the root to a cell, is that with the largest sum of its nodes'
    shares. Above the level where people spread, nearly all of them are in one node or in two
    neighbours, and another path would lose their whole share at every level from where it leaves;
    so a wide range costs levels, and no accuracy but theirs.
    [C2] People spread where the path's shares fall off. A rotation makes coordinates alike, so that
    level is looked for in the average over all coordinates: where the sum of what shares exceed a
    threshold by is largest. The threshold lies between a half and one, higher where noise chooses
    among children.
    [C3] Near the path, a logistic distribution is fitted to the shares of four levels by least
    squares, with one scale for all coordinates, and its place is the centre. Any other curve with
    one hump would do: a centre has to lie amid the people. The fit weighs all shares by what they
    tell about the place; a median has the whole noise of all nodes on one side.
    """
    estimates = [asked.estimates(answers, j)[0] for j in range(asked.attributes)]
    paths = [heaviest(asked.tree, shares) for shares in estimates]
    noise = asked.level_deviation(len(answers.values))
    excess = np.mean([held for _, held in paths], axis=0) - min(0.9, 0.55 + 0.7 * noise)
    level = min(asked.tree.depth, int(np.argmax(np.cumsum(excess))) + 2)
    size = asked.tree.branching ** (asked.tree.depth - level)
    steps = size * np.linspace(-_REACH, _REACH, 2 * _REACH * _FINE + 1)
    fits = np.array(
        [
            _fit(asked, shares, leaf + 0.5 + steps, level)
            for shares, (leaf, _) in zip(estimates, paths, strict=True)
        ]
    )
    scale = int(np.argmax(fits.max(axis=2).sum(axis=0)))
    chosen = np.argmax(fits[:, scale], axis=1)
    return [
        cells.edge(float(np.clip(leaf + 0.5 + steps[place], 0, asked.tree.cells)))
        for (leaf, _), place in zip(paths, chosen.tolist(), strict=True)
    ]


def _fit(asked: TreeRound, shares: Shares, places: Floats, level: int) -> Floats:
    """Return by how much each scale and place lowers the squares of shares near the path, [C3]."""
    tree = asked.tree
    found = np.zeros((len(_SPREADS), len(places)))
    for here in sorted({min(max(level + step, 1), tree.depth) for step in _FITTED}):
        size = tree.branching ** (tree.depth - here)
        first = max(0, int(places[0] // size) - 1)
        last = min(tree.nodes(here) - 1, int(places[-1] // size) + 1)
        held = shares(here, np.arange(first, last + 1))
        edges = np.arange(first, last + 2) * float(size) - places[:, None]
        for i, spread in enumerate(_SPREADS):
            scale = spread * tree.branching ** (tree.depth - level)
            curve = np.diff(np.tanh(edges / scale) / 2, axis=1)
            squares = 2 * curve @ held - (curve * curve).sum(axis=1)
            found[i] += squares / asked.oracle(here).variance
    return found
