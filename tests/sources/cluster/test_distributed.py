"""Tables in parts, without an engine: exact merges, secret choices, and what travels."""

import pickle
from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from modicum.errors import CopyRefused, InvalidArgument, SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit, unit_of
from modicum.sources.cluster import jobs as module
from modicum.sources.cluster import spark
from modicum.sources.cluster.jobs import DistributedSource, Job, Known
from modicum.sources.opening import open_source
from modicum.sources.reader import Scope, read
from modicum.summaries import subsample
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.cells import Cells
from modicum.summaries.subsample import ChosenRows, PartRecords, Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from modicum.version import VERSION
from tests.exact.goodness import ACCEPT, REJECT, p_value

INF, NAN = float("inf"), float("nan")
LATTICE = Lattice.within((0.0, 1e9), step=1.0)


class Cluster(DistributedSource):
    """Parts of a table in this process; jobs and summaries travel as bytes.

    ``merges`` says how often what is known is merged in pairs before the driver gets it. Rows come
    in another order each time, and persons in other parts.
    """

    def __init__(self, parts: Iterable[NDArray[np.float64] | pa.Table], merges: int = 0) -> None:
        self.parts = [
            pa.table({"x": each}) if isinstance(each, np.ndarray) else each for each in parts
        ]
        schema = self.parts[0].schema if self.parts else pa.schema({"x": pa.float64()})
        types = {name: str(schema.field(name).type) for name in schema.names}
        super().__init__("cluster", list(types), types.__getitem__)
        self.merges = merges
        self.jobs: list[Job] = []
        self.most = 0
        """Bytes of the largest summary."""

    def _run(self, job: Job) -> list[Known]:
        self.jobs.append(job)
        sent = pickle.loads(pickle.dumps(job))
        parts = self.parts
        if job.scope.unit.column is not None:
            parts = self._by_person(job.scope.unit.column)
        parts = [each.select(list(job.columns)) if job.columns else each for each in parts]
        known = [sent.summarise(open_source(each), f"part {i}") for i, each in enumerate(parts)]
        self.most = max([self.most, *(len(data) for part in known for _, data in part)])
        for height in range(self.merges):
            pairs = [known[i : i + 2] for i in range(0, len(known), 2)]
            known = [
                sent.merge(chain.from_iterable(pair), f"{height} {i}")
                for i, pair in enumerate(pairs)
            ]
        return list(chain.from_iterable(known))

    def _by_person(self, person: str) -> list[pa.Table]:
        rng = np.random.default_rng(len(self.jobs))
        whole = pa.concat_tables(self.parts)
        whole = whole.take(rng.permutation(len(whole)))
        labels = whole[person].to_pylist()
        places = {label: rng.integers(3) for label in labels}
        part = np.array([places[label] for label in labels], dtype=int)
        return [whole.filter(pa.array(part == i)) for i in range(3)]


@pytest.mark.parametrize("merges", [0, 1, 3])
@pytest.mark.parametrize("parts", [0, 1, 2, 7])
def test_parts_and_merges_make_no_difference(parts: int, merges: int) -> None:
    rng = np.random.default_rng(parts)
    cuts = [rng.lognormal(3, 3, size) for size in rng.integers(0, 3000, parts)]
    if parts > 2:
        cuts[1][:5] = [NAN, INF, -INF, -0.0, 5e-324]
        cuts[2] = np.empty(0)
    whole = np.concatenate([np.empty(0), *cuts])
    reductions = [Count(), Tails(3), Tails(5000), ClippedSum(-5, 10**6), Cells(7, (0, 9, 1000))]
    lattices = [Lattice.within((-1e9, 1e9)), LATTICE]
    reads = [(lattice, each) for lattice in lattices for each in reductions]
    source = Cluster(cuts, merges)
    got = read(source, [Read("x", *each) for each in reads] + [Read(None, None, Count())], SYSTEM)
    expected = read(open_source(whole), [Read(None, *each) for each in reads], SYSTEM)
    assert [each.to_bytes() for each in got[:-1]] == [each.to_bytes() for each in expected]
    assert got[-1].count == len(whole)
    assert len(source.jobs) == 1


@pytest.fixture
def early_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are forgotten after 1 and 3 records, not 2^15 and 2^16; 4 or 8 are drawn ahead."""
    monkeypatch.setattr(subsample, "FEW", 1)
    early = lambda records: int(records > 1) + int(records > 3)  # noqa: E731
    monkeypatch.setattr(subsample, "kept_level", early)


def subset_law(rate: float) -> dict[int, float]:
    """Probability of every set of five rows, as a bit mask."""
    return {
        sum(1 << i for i in chosen): rate**size * (1 - rate) ** (5 - size)
        for size in range(6)
        for chosen in combinations(range(5), size)
    }


def mask(q: NDArray[np.int64]) -> int:
    assert len(set(q.tolist())) == len(q)
    return sum(1 << int(each) for each in q)


CUTS = [np.array([0.0]), np.array([1.0, NAN]), np.array([2.0, 3.0]), np.empty(0), np.array([4.0])]


@pytest.mark.slow
@pytest.mark.parametrize("merges", [0, 2])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.usefixtures("early_levels")
def test_every_set_of_rows_has_its_probability(k: int, merges: int) -> None:
    entropy = SeededEntropy(f"{k} {merges}")
    source = Cluster(CUTS, merges)
    draws = []
    for _ in range(1500):
        (records,) = read(source, [Read("x", LATTICE, Records())], entropy)
        draws.append(mask(records.thin(k, entropy)))
    # The five records are kept at level 2; only below it has the cluster to be asked again.
    assert len(source.jobs) == 1500 * (1 + (k == 1))
    assert p_value(draws, subset_law(2.0**-k)) > ACCEPT
    assert p_value(draws, subset_law(0.7 * 2.0**-k)) < REJECT
    shared = [each & 0b11100 | (each & 1) * 3 for each in draws]
    assert p_value(shared, subset_law(2.0**-k)) < REJECT


@pytest.mark.parametrize("kept", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.usefixtures("early_levels")
def test_a_second_subsample_is_a_fresh_one(kept: int) -> None:
    entropy = SeededEntropy(kept)
    source = Cluster(CUTS, 2)
    pairs = []
    for _ in range(600):
        (records,) = read(source, [Read("x", LATTICE, Records(kept))], entropy)
        first, second = (mask(records.thin(2, entropy)) & 1 for _ in range(2))
        pairs.append(2 * first + second)
    assert len(source.jobs) == 600 * (3 - kept)
    mechanism = {0: 9 / 16, 1: 3 / 16, 2: 3 / 16, 3: 1 / 16}
    assert p_value(pairs, mechanism) > ACCEPT
    assert (
        p_value([3 * (each >> 1) for each in pairs], mechanism) < REJECT
    )  # if it were the same one


def test_many_parts_give_no_more_rows_than_one() -> None:
    source = Cluster(np.split(np.arange(1e6), 20), 2)
    (records,) = read(source, [Read("x", LATTICE, Records(2))], SeededEntropy(1))
    level = subsample.kept_level(10**6)
    one, other = (records.thin(level, SeededEntropy(2)) for _ in range(2))
    mean = 10**6 / 2**level
    for q in (one, other):
        assert abs(len(q) - mean) < 6 * mean**0.5
        assert len(np.unique(q)) == len(q)
    assert len(np.intersect1d(one, other)) < 2 * mean / 2**level + 50
    assert len(source.jobs) == 1


def test_all_records() -> None:
    source = Cluster(CUTS)
    (records,) = read(source, [Read("x", LATTICE, Records())], SYSTEM)
    for _ in range(2):
        assert sorted(records.all().tolist()) == [0, 1, 2, 3, 4]
        assert sorted(records.thin(0, SYSTEM).tolist()) == [0, 1, 2, 3, 4]
    (nothing,) = read(Cluster([]), [Read("x", LATTICE, Records())], SYSTEM)
    assert nothing.thin(0, SYSTEM).tolist() == []


def test_a_seed_travels_only_if_the_entropy_is_no_secret() -> None:
    class Hushed(SeededEntropy):
        secret = True

    source = Cluster(CUTS)
    for entropy in (SYSTEM, Hushed(1), SeededEntropy(1), SeededEntropy(1)):
        (records,) = read(source, [Read("x", LATTICE, Records())], entropy)
        records.thin(1, entropy)
        read(source, [Read("x", LATTICE, Tails(2))], entropy)
    first = [job.seed for job in source.jobs[::2]]
    assert first[:2] == [None, None]
    assert first[2] == first[3] is not None
    assert [job.seed for job in source.jobs[1::2]] == [None] * 4  # nothing is chosen in secret


def test_parts_draw_from_streams_of_their_own() -> None:
    rows = np.arange(64.0)
    job = Job(Scope(), "7", VERSION, ((0, Read("x", LATTICE, PartRecords(2))),))
    part = open_source(pa.table({"x": rows}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsample, "kept_level", lambda _: 1)
        known = [job.summarise(part, place) for place in ("a", "b", "a")]
    drawn = [ChosenRows.from_bytes(data) for ((_, data),) in known]
    assert drawn[0] == drawn[2]
    subsamples = [q.tolist() for each in drawn[:2] for q in each.subsamples]
    assert len({tuple(q) for q in subsamples}) == 4


def test_workers_of_another_version_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(Scope(), None, VERSION, ((0, Read("x", LATTICE, Count())),))
    monkeypatch.setattr(module, "VERSION", "99")
    part = open_source(pa.table({"x": [1.0]}))
    for action in (lambda: job.summarise(part, ""), lambda: job.merge([], "")):
        with pytest.raises(SourceError, match="workers run modicum 99"):
            action()


def test_rows_do_not_come_to_the_driver() -> None:
    source = Cluster(CUTS)
    assert source.fetchable("x") is None
    with pytest.raises(UnsupportedData, match="stay where they are"):
        next(iter(source.chunks(["x"])))
    for reduction in (PartRecords(1),):
        with pytest.raises(InvalidArgument, match="range"):
            reduction.begin(None)


class Dying(Cluster):
    def _run(self, job: Job) -> list[Known]:
        raise ValueError("secret")


def test_a_failure_shows_nothing() -> None:
    with pytest.raises(SourceError, match=r"^the cluster data could not be read$") as caught:
        read(Dying([]), [Read("x", LATTICE, Count())], SYSTEM)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_chosen_rows_guard_their_rows() -> None:
    chosen = ChosenRows(0, 1, (np.array([123]),))
    assert "123" not in repr(chosen)
    with pytest.raises(CopyRefused):
        pickle.dumps(chosen)
    assert ChosenRows.from_bytes(chosen.to_bytes()) == chosen
    with pytest.raises(InvalidArgument):
        chosen.joined(ChosenRows(0, 1, ()), SYSTEM)
    with pytest.raises(InvalidArgument):
        ChosenRows.from_bytes(b"123")


def test_a_part_is_read_anew_where_persons_have_records_and_rows() -> None:
    """Rows of a part may pass once: each limit of rows, and all records together, take a pass."""
    unit, other = unit_of("who"), unit_of("who", max_rows=2)
    sums = Read("x", LATTICE, Count(), rule=RecordRule("sum"))
    two, three = (Read("x", LATTICE, Count(), rule=RecordRule("rows", most=m)) for m in (2, 3))
    plain = Read("x", LATTICE, Count())

    def rereads(which, *reads) -> bool:
        scope = Scope.of(which, ["x"], SYSTEM)
        return Job(scope, None, VERSION, tuple((0, ask) for ask in reads)).rereads

    assert not rereads(unit, sums)
    assert not rereads(unit, sums, Read("x", LATTICE, Count(), rule=RecordRule("count")))
    assert not rereads(unit, two, two)
    assert rereads(unit, sums, two)
    assert rereads(unit, two, three)
    assert not rereads(other, plain, plain)
    assert not rereads(Unit(), plain)


LIMIT = "Total size of serialized results of 9 tasks (66.2 MiB) is bigger than the limit"
ABORTED = f"org.apache.spark.SparkException: Job aborted due to stage failure: {LIMIT}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"An error occurred while calling o81.collectToPython.\n: {ABORTED}", True),
        (f"({ABORTED.replace(': Job', ') Job')}", True),
        (f"Job aborted due to stage failure: {LIMIT}", True),
        (f"[CAST_INVALID_INPUT] The value '{LIMIT}' cannot be cast", False),
        (f"An exception was thrown from the Python worker:\n{ABORTED}", False),
    ],
)
def test_the_limit_of_spark_is_told_by_how_its_own_error_begins(text: str, told: bool) -> None:
    """And not by what it quotes."""

    def fails() -> None:
        raise RuntimeError(text)

    refused: list[str] = []
    assert not spark._works(fails, refused)
    assert bool(refused) == told
