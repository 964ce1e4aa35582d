"""The mean of a vector that each client has: the shifted clipped mean in three rounds.

A centre, a norm, and the clipped vectors with Gaussian noise. The vectors as integers, their
rotation and their centre are those of :mod:`modicum.protocols.shuffle.mean_vector` too.
"""

from __future__ import annotations

import hashlib
import math
import numbers
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.entropy import Entropy
from modicum.exact.gaussian import discrete_gaussian_many
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_integer
from modicum.mechanisms.additive import Additive, GaussianNoise, gaussian
from modicum.privacy.budget import Number
from modicum.privacy.event import ZCDP, Event
from modicum.protocols.local import protocol
from modicum.protocols.local.frequency import TreeRound
from modicum.protocols.local.protocol import Answers, Floats, Integers
from modicum.protocols.local.tree import BRANCHING, Shares, Tree, TreeCells, heaviest_path
from modicum.protocols.local.wire import Announcement

CENTRES, NORMS, MEANS = 1, 2, 3  # the rounds
_LARGEST_RADIUS = 1 << 62  # about a centre that is announced, in steps after the rotation
_BITS = 24  # of a coordinate within the radius
_OCTAVES = 32  # of norms that are distinguished
_SMALLEST = 1 << 20  # the least norm distinguished, as a part of the farthest place
_LEVELS = 11  # of the tree over a coordinate: cells of some millionths of the radius
_REACH = 4  # nodes of the level where people spread, around the heaviest path, that are searched
_FINE = 8  # places that are tried, for each such node
_SPREADS = tuple(2 ** (k / 2 - 3.5) for k in range(11))  # scales that are tried, in such nodes
_FITTED = -1, 0, 1, 2  # levels about that one, which take part in the fit
_OCTAVE = 8  # cells of norms in which a norm doubles
_NORM_TREE = Tree(BRANCHING, 4)  # 256 cells: 32 octaves
_SURE = 4.0, 3.5, 2.5  # deviations for the last norms: nodes of 8, 2 and 1/2 octaves
_TAIL = 2.0**-40

NORM = 1 << 16  # to which vectors are clipped, in units of the grid on which noise is added


@dataclass(frozen=True, slots=True, eq=False)
class VectorEstimate:
    """A mean vector from randomised messages.

    Attributes
    ----------
    values : (d,) float array
        The mean of the vectors that were clipped.
    standard_error : float
        Of every coordinate, from the noise that was added; not of clipping.
    radius : float
        Distance from the centre to which vectors were clipped.
    clients : tuple of int
        Answers in the three rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import local
    >>> protocol = local.mean_vector(dimension=2, radius=100, rho=8)
    >>> batch, server = local.Batch(protocol, 4000), local.Server(protocol)
    >>> while server.estimate is None:
    ...     message = batch.respond(np.full((4000, 2), 7.0), server.announcement)
    ...     tally = server.aggregate([message])
    ...     server.close()
    >>> found = server.estimate
    >>> bool(np.abs(found.values - 7).max() < 1), sum(found.clients)
    (True, 4000)
    """

    values: NDArray[np.float64]
    standard_error: float
    radius: float
    clients: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MeanVector(protocol.Protocol):
    """Huang, Liang and Yi (2021), Theorem 7: a centre, a norm, a clipped mean.

    Made by :func:`mean_vector`.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session.
    budget : Budget
        What a client spends in all.
    dimension : int
        Of the vectors.
    radius : float
        A public bound on their norm.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.mean_vector(dimension=8, radius=1000, rho="0.5")
    >>> protocol.rounds, str(protocol.budget)
    (3, 'ρ = 0.5')
    """

    dimension: int
    radius: float

    kind: ClassVar[str] = "mean_vector"

    @property
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024: each coordinate of a centre needs its own."""
        first, second = min(96 + 7 * self.vectors.width, 384), 80
        return first, second, 1024 - first - second

    @property
    def vectors(self) -> Vectors:
        """The clients' vectors as integers."""
        return Vectors(self.seed, self.dimension, self.radius, _OCTAVE)

    def asked(self, said: Announcement) -> TreeRound | GaussianRound:
        self.vectors.check(said, counted=True)
        epsilon, width = protocol.pure_share(self.budget), self.vectors.width
        if said.round == CENTRES:
            return TreeRound(self.vectors.places.tree, epsilon, width)
        if said.round == NORMS:
            return TreeRound(_NORM_TREE, epsilon)
        return GaussianRound(width, self.budget.amount)

    def rows(self, values: Floats, said: Announcement) -> Integers:
        rows = self.vectors.rows(values, said)
        return clipped(rows, said.parameters[-3]) if said.round == MEANS else rows

    def read(self, values: Any) -> Floats:
        return self.vectors.read(values)

    def closed(self, said: Announcement, answers: Answers) -> Announcement | VectorEstimate:
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, GaussianRound):
            return self._estimate(said, asked, answers.values)
        if said.round == CENTRES:
            centre = centres(asked, answers, self.vectors.places)
            return Announcement(said.session, NORMS, (*centre, count))
        *centre, first = said.parameters
        # [local.15] Few lie beyond, and those pull less in more dimensions.
        sure = (*_SURE, max(0.0, 1.5 - 4 / self.vectors.width))
        radius = self.vectors.edge(asked.significant_end(answers, sure=sure))
        return Announcement(said.session, MEANS, (*centre, radius, first, count))

    def _estimate(
        self, said: Announcement, asked: GaussianRound, answers: NDArray[Any]
    ) -> VectorEstimate:
        *centre, radius, first, second = said.parameters
        count, step = len(answers), self.vectors.lattice.step
        root = math.sqrt(self.vectors.width)
        moved, error = np.zeros(self.vectors.width), math.inf
        if count:
            moved = answers.astype(np.float64).mean(axis=0) * (radius / NORM)
            error = math.sqrt(asked.noise.variance / count) * radius / NORM / root * step
        values = self.vectors.restored(np.array(centre) + moved)
        return VectorEstimate(values, error, radius / root * step, (first, second, count))

    def error(self, clients: int, *, distance: float) -> float:
        """Predict the norm of the error that is due to noise.

        Parameters
        ----------
        clients : int
            All those who answer, in any round.
        distance : float
            From the centre, within which nearly all vectors lie.

        Returns
        -------
        float
            Its L2 norm, in the unit of the data.

        Raises
        ------
        InvalidArgument
            For a number of clients below 1, or a distance that is not positive.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.mean_vector(dimension=8, radius=1000, rho="0.5")
        >>> round(protocol.error(100_000, distance=4), 2)
        0.08
        """
        scale = math.sqrt(2 * float(self.budget.amount) * self._answering(clients))
        return 2 * protocol.length(distance, "distance") / scale * math.sqrt(self.dimension)

    def parameters(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "radius": self.radius}


def mean_vector(
    *, dimension: int, radius: float, rho: Number, session: str | None = None
) -> MeanVector:
    """Estimate the mean of vectors from one randomised message of each client, in three rounds.

    Parameters
    ----------
    dimension : int
        1 to 2048.
    radius : float
        A public bound on the norm, up to about a million times the spread of the vectors.
        Coordinates beyond it are cut.
    rho : number
        zCDP budget of a client, at least 1e-6, whose vector may be replaced by any other.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    MeanVector
        For :class:`~modicum.protocols.local.Client` and :class:`~modicum.protocols.local.Server`,
        whose estimate is a :class:`~modicum.protocols.local.VectorEstimate`.

    Raises
    ------
    InvalidArgument
        For a bad dimension, radius, session or budget.

    Notes
    -----
    The error is about the diameter of the data times sqrt(d / (ρ n)), once some 2,000 d clients /ρ
    have found the centre (Huang, Liang and Yi 2021, Theorem 7).

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.mean_vector(dimension=2, radius=100, rho="0.5")
    >>> protocol.rounds, round(protocol.error(100_000, distance=10), 3)
    (3, 0.099)
    """
    ball, budget = checked_ball(dimension, radius), protocol.local_budget(None, rho)
    GaussianRound(dimension, budget.amount)  # refuses now what the last round would refuse
    return MeanVector(protocol.chosen_session(session), budget, *ball)


@dataclass(frozen=True, slots=True)
class GaussianRound(protocol.Round):
    """The discrete Gaussian mechanism about an integer vector of norm at most :data:`NORM`.

    With a zCDP of an answer below 1e-6 it would not fit its 32 bits.

    Notes
    -----
    [local.14] Any two vectors of the ball lie within 2 NORM of each other: sigma² = 2 NORM²/ρ. A
    coordinate that exceeds NORM by more than noise does with probability 2^-40 is cut there, by
    the client, which is post-processing of the draw; so a server may refuse larger ones.
    """

    dimension: int
    rho: Fraction

    def __post_init__(self) -> None:
        if self.rho < Fraction(1, 10**6):
            raise InvalidArgument(
                f"a round about a vector needs rho of at least 1e-6, got {float(self.rho):g}"
            )

    @property
    def event(self) -> Event:
        return ZCDP(self.rho)

    @property
    def answer(self) -> np.dtype[Any]:
        return np.dtype(("<i4", (self.dimension,)))

    @property
    def noise(self) -> GaussianNoise:
        return GaussianNoise(Fraction(2 * NORM**2) / self.rho)

    @property
    def most(self) -> int:
        """Largest coordinate of an answer."""
        return NORM + math.ceil(self.noise.tail_bound(_TAIL))

    @property
    def longest(self) -> int:
        """Norm that an honest answer exceeds with probability below 2^-40.

        Discrete Gaussians are subgaussian, so P(|noise|² > sigma² (d + 2 sqrt(d t) + 2 t)) <= e^-t
        (Hsu, Kakade and Zhang 2012).
        """
        t = -math.log(_TAIL)
        square = self.dimension + 2 * math.sqrt(self.dimension * t) + 2 * t
        return NORM + math.ceil(math.sqrt(float(self.noise.sigma2) * square))

    def mechanism(self, row: Integers, found: protocol.Words) -> Additive:
        return gaussian(self._checked(np.atleast_2d(row))[0].tolist(), l2=2 * NORM, rho=self.rho)

    def stored(self, outcome: tuple[int, ...]) -> NDArray[Any]:
        cut = [min(max(x, -self.most), self.most) for x in outcome]
        return np.array([cut], "<i4")

    def draw(self, rows: Integers, found: protocol.Words, entropy: Entropy) -> NDArray[Any]:
        rows = self._checked(rows)
        noise = discrete_gaussian_many(self.noise.sigma2, rows.size, entropy)
        moved = rows + noise.reshape(rows.shape)
        answers: NDArray[Any] = np.clip(moved, -self.most, self.most).astype("<i4")
        return answers

    def possible(self, answers: NDArray[Any], found: protocol.Words) -> protocol.Flags:
        """Refuse coordinates that no client sends, and norms that practically no client sends."""
        x = answers.astype(np.float64)
        fits = (np.abs(x) <= self.most).all(axis=1) & (np.linalg.norm(x, axis=1) <= self.longest)
        return np.array(fits)

    def influence(self) -> float:
        """The most that one answer moves the mean in norm, in radii, times the answers' number."""
        return 2 * self.longest / NORM

    def _checked(self, rows: Integers) -> Integers:
        """Replace what is longer than the promise by 0; :func:`clipped` does not make such rows."""
        # The absolute value of -2^63 is negative, and its square 0; squares are read below 2^32.
        long = ((rows > NORM) | (rows < -NORM)).any(axis=1)
        long |= (rows * rows).sum(axis=1) > NORM**2
        return np.where(long[:, None], 0, rows)


def clipped(vectors: Integers, radius: int) -> Integers:
    """Scale vectors to the grid and into the ball of ``radius``, rounding towards zero.

    Rounding to the nearest integer could lengthen a vector by as much as its own norm.
    """
    x = vectors.astype(np.float64)
    norms = np.sqrt((x * x).sum(axis=1))
    # A relative 2^-30 covers the roundings of the norm and of the quotient.
    scale = NORM * (1 - 2.0**-30) / np.maximum(np.maximum(norms, float(radius)), 1.0)
    short: Integers = np.trunc(x * scale[:, None]).astype(np.int64)
    return short


# Vectors as integers, without and with a shuffler.


def signs(seed: bytes, dimension: int) -> Integers:
    """The random signs of a rotation, shape (dimension,), each +1 or -1."""
    drawn = hashlib.shake_256(b"modicum.local/1 signs" + seed).digest(dimension)
    return 1 - 2 * (np.frombuffer(drawn, np.uint8) & 1).astype(np.int64)


def checked_ball(dimension: int, radius: float) -> tuple[int, float]:
    """Read the dimension of vectors and a bound of their norm."""
    number = isinstance(radius, numbers.Real) and not isinstance(radius, bool)
    if not number or not 2.0**-900 < radius < 2.0**900:
        raise InvalidArgument(f"radius must be between 2^-900 and 2^900, got {as_given(radius)}")
    return as_integer(dimension, "dimension", 1, 2048), float(radius)


def hadamard(rows: Integers) -> Integers:
    """Multiply rows (n, 2^k) by the Hadamard matrix, entries ±1."""
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
    """Pad vectors with zeros to a power of two, flip signs, multiply by the Hadamard matrix.

    They stay integers. Norms grow by sqrt(d'), d' the padded dimension (Huang, Liang and Yi 2021,
    section 3.3).
    """
    dimension = rows.shape[1]
    width = 1 << (dimension - 1).bit_length()
    return hadamard(np.pad(rows, ((0, 0), (0, width - dimension))) * signs(seed, width))


def unrotated(vector: Floats, seed: bytes, dimension: int) -> Floats:
    """Undo :func:`rotated`, of a mean."""
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

    @property
    def lattice(self) -> Lattice:
        """Grid of a coordinate: 2^-24 of the radius."""
        step = math.ldexp(1.0, math.frexp(self.radius)[1] - _BITS)
        return Lattice.within((-self.radius, self.radius), step)

    @property
    def width(self) -> int:
        """Coordinates after the rotation, a power of two."""
        return 1 << (self.dimension - 1).bit_length()

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
        """Norm about the centre below which norms are not distinguished."""
        return max(1.0, self.places.last / _SMALLEST)

    def check(self, said: Announcement, *, counted: bool) -> None:
        """Check what was announced: nothing, then a centre, then a centre and a radius.

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
        x = protocol.numbers_of(values)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise InvalidArgument(
                f"values must have the shape (n, {self.dimension}), got {x.shape}"
            )
        return np.where(np.isnan(x), 0.0, x)

    def rows(self, values: Floats, said: Announcement) -> Integers:
        """Cells of rotated coordinates, then of a norm, then vectors about the centre."""
        q = self.lattice.quantise(values.ravel()).reshape(values.shape)
        shifted = rotated(q, self.seed)
        if said.round == CENTRES:
            return self.places.of_integers(shifted)
        shifted -= np.array(said.parameters[: self.width], np.int64)
        return self.norm_cells(shifted)[:, None] if said.round == NORMS else shifted

    def norm_cells(self, shifted: Integers) -> Integers:
        """The cells of norms, ``octave`` of them for each doubling."""
        norms = np.sqrt((shifted.astype(np.float64) ** 2).sum(axis=1))
        places = np.floor(self.octave * np.log2(np.maximum(norms / self.least_norm, 1.0)))
        found: Integers = np.minimum(places, _OCTAVES * self.octave - 1).astype(np.int64)
        return found

    def edge(self, place: float) -> int:
        """The norm at a place between cells of norms."""
        return math.ceil(self.least_norm * 2 ** (place / self.octave))

    def restored(self, vector: Floats) -> Floats:
        """Undo the rotation, in the unit of the data."""
        return unrotated(vector, self.seed, self.dimension) * self.lattice.step


def centres(asked: TreeRound, answers: Answers, cells: TreeCells) -> list[int]:
    """A point amid the people for each coordinate, in lattice integers.

    Notes
    -----
    [local.16] The heaviest path, from the root to a cell, is that with the largest sum of its
    nodes' shares. Above the level where people spread, nearly all of them are in one node or in two
    neighbours, and another path would lose their whole share at every level from where it leaves;
    so a wide range costs levels, and no accuracy but theirs.
    [local.17] People spread where the path's shares fall off. A rotation makes coordinates alike,
    so that level is looked for in the average over all coordinates: where the sum of what shares
    exceed a threshold by is largest. The threshold lies between a half and one, higher where noise
    chooses among children.
    [local.18] Near the path, a logistic distribution is fitted to the shares of four levels by
    least squares, with one scale for all coordinates, and its place is the centre. Any other curve
    with one hump would do: a centre has to lie amid the people. The fit weighs all shares by what
    they tell about the place; a median has the whole noise of all nodes on one side.
    """
    estimates = [asked.estimates(answers, j)[0] for j in range(asked.attributes)]
    paths = [heaviest_path(asked.tree, shares) for shares in estimates]
    noise = asked.level_deviation(len(answers.values))
    excess = np.mean([path for _, path in paths], axis=0) - min(0.9, 0.55 + 0.7 * noise)
    level = min(asked.tree.depth, int(np.argmax(np.cumsum(excess))) + 2)
    size = asked.tree.branching ** (asked.tree.depth - level)
    steps = size * np.linspace(-_REACH, _REACH, 2 * _REACH * _FINE + 1)
    places = [leaf + 0.5 + steps for leaf, _ in paths]
    fits = np.array([_fit(asked, *each, level) for each in zip(estimates, places, strict=True)])
    scale = int(np.argmax(fits.max(axis=2).sum(axis=0)))
    best = [each[fit.argmax()] for each, fit in zip(places, fits[:, scale], strict=True)]
    return [cells.edge(float(np.clip(place, 0, asked.tree.cells))) for place in best]


def _fit(asked: TreeRound, shares: Shares, places: Floats, level: int) -> Floats:
    """How much each scale and place lowers the squares of shares near the path [local.18]."""
    tree = asked.tree
    found = np.zeros((len(_SPREADS), len(places)))
    for here in sorted({min(max(level + step, 1), tree.depth) for step in _FITTED}):
        size = tree.branching ** (tree.depth - here)
        first = max(0, int(places[0] // size) - 1)
        last = min(tree.nodes(here) - 1, int(places[-1] // size) + 1)
        seen = shares(here, np.arange(first, last + 1))
        edges = np.arange(first, last + 2) * float(size) - places[:, None]
        for i, spread in enumerate(_SPREADS):
            scale = spread * tree.branching ** (tree.depth - level)
            curve = np.diff(np.tanh(edges / scale) / 2, axis=1)
            squares = 2 * curve @ seen - (curve * curve).sum(axis=1)
            found[i] += squares / asked.oracle(here).variance
    return found
