"""Counts of very many keys: the law of what is in the file, one charge, one file, refusals."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.api.tables import bulk, parquet_out
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.partition_selection import KeepCurve
from modicum.privacy.event import ApproxDP
from modicum.sources import record_batches
from modicum.stored import codec
from tests.exact.goodness import ACCEPT, REJECT, normalised, p_value

KEYS = 40_000
COLUMNS = ["page", "value", "lower", "upper"]
PAGES = pa.table({"page": [1, 2]})
KEY_BUDGET = mo.approx(1, "1e-6")


def table_of(counts) -> pa.Table:
    return pa.table({"page": np.arange(len(counts)), "n": pa.array(counts, pa.int64())})


def curator_of(table, seed="bulk", **options) -> mo.Curator:
    options = options or {"budget": mo.approx(9, "1e-3")}
    return mo.Curator(table, entropy=SeededEntropy(seed), **options)


def complete(counts) -> mo.Curator:
    return curator_of(mo.counted(table_of(counts), "n", complete=True))


def law_of(noise, reach=400) -> dict[int, float]:
    return normalised({k: math.exp(noise.log_pmf(k)) for k in range(-reach, reach)})


@pytest.mark.parametrize(
    ("cost", "noise", "wrong"),
    [
        (mo.pure("0.1"), LaplaceNoise(Fraction(10)), LaplaceNoise(Fraction(7))),
        (mo.pure(10), LaplaceNoise(Fraction(1, 10)), LaplaceNoise(Fraction(1, 7))),
        (mo.zcdp("0.02"), GaussianNoise(Fraction(25)), GaussianNoise(Fraction(25 * 49, 100))),
    ],
)
def test_values_follow_the_law_and_not_one_that_is_30_percent_narrower(
    tmp_path, cost, noise, wrong
) -> None:
    counts = np.random.default_rng(0).poisson(3, KEYS) * 1000
    curator = curator_of(mo.counted(table_of(counts), "n", complete=True), "law", budget=cost)
    found = curator.count_to(tmp_path / "c.parquet", "page", budget=cost)
    released = pd.read_parquet(found.path)
    assert list(released.columns) == COLUMNS
    assert released.page.tolist() == list(range(KEYS))
    errors = (released.value - counts).tolist()
    assert p_value(errors, law_of(noise)) > ACCEPT
    assert p_value(errors, law_of(wrong)) < REJECT
    assert found.half_width == math.floor(noise.tail_bound(0.05))
    assert (released.lower == np.maximum(released.value - found.half_width, 0)).all()
    assert (released.upper == np.maximum(released.value + found.half_width, 0)).all()
    covered = (released.lower <= counts) & (counts <= released.upper)
    assert covered.mean() > 0.945
    assert curator.remaining.amount == 0


def test_neighbouring_counts_have_noise_of_their_own(tmp_path) -> None:
    found = complete([0] * KEYS).count_to(tmp_path / "c.parquet", "page", epsilon="0.1")
    z = pd.read_parquet(found.path).value.to_numpy().astype(float)
    for lag in (1, 2, 1 << 14):
        assert abs(np.corrcoef(z[lag:], z[:-lag])[0, 1]) < 5 / math.sqrt(KEYS)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_unit_of_several_rows_has_so_many_times_the_noise(tmp_path, rows) -> None:
    source = mo.counted(table_of([0] * KEYS), "n", complete=True)
    curator = curator_of(source, budget=mo.pure(1), unit=mo.unit_of(rows=rows))
    found = curator.count_to(tmp_path / "c.parquet", "page", epsilon="0.3")
    errors = pd.read_parquet(found.path).value.tolist()
    assert p_value(errors, law_of(LaplaceNoise(rows / Fraction("0.3")))) > ACCEPT
    assert curator.spent == mo.pure("0.3")


@pytest.mark.parametrize("as_rows", [True, False])
@pytest.mark.parametrize("owned", [1, 2])
def test_keys_are_shown_as_often_as_the_curve_says(tmp_path, as_rows, owned) -> None:
    n, budget, unit = 5, mo.approx(1, "0.01"), mo.unit_of(rows=owned)
    row = unit.per_row(ApproxDP(Fraction(1), Fraction(1, 100)))
    share = KeepCurve(row.epsilon, row.delta).probability(n)
    if as_rows:
        table = pa.table({"page": np.repeat(np.arange(4000), n)})
    else:
        table = mo.counted(table_of([n] * 4000), "n")
    curator = curator_of(table, budget=mo.approx(2, "0.01"), unit=unit)
    found = curator.count_to(tmp_path / "c.parquet", "page", key_budget=budget, epsilon=1)
    assert abs(found.rows - 4000 * share) < 5 * math.sqrt(4000 * share * (1 - share))
    released = pd.read_parquet(found.path)
    assert released.page.is_monotonic_increasing
    assert p_value((released.value - n).tolist(), law_of(LaplaceNoise(Fraction(owned)))) > ACCEPT
    assert curator.spent == mo.approx(2, "0.01")
    assert str(found.selection) == "(ε, δ) = (1, 0.01)"


UGLY = {
    "zeros": [0] * 500,
    "one": [7],
    "missing": [None, -5, 2**62, 0],
    "zipf": (1e6 / np.arange(1, 500)).astype(int).tolist(),
    "nearly all zero": [0] * 499 + [10**9],
}


@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("cost", [mo.pure("0.1"), mo.pure(10), mo.zcdp("0.5")])
def test_ugly_counts(tmp_path, name, cost) -> None:
    truth = np.array([min(max(n or 0, 0), 2**53) for n in UGLY[name]])
    for whole in (True, False):
        source = mo.counted(table_of(UGLY[name]), "n", complete=whole)
        keys = None if whole else table_of(UGLY[name]).select(["page"])
        path = tmp_path / f"{whole}.parquet"
        found = curator_of(source, budget=cost).count_to(path, "page", keys=keys, budget=cost)
        values = pd.read_parquet(path).value.to_numpy()
        assert found.rows == len(truth)
        assert np.abs(values - truth).max() < 20 * (found.half_width + 1)


@pytest.mark.parametrize("rows", [[], ["a"], ["a"] * 500 + ["ö"] * 300 + [None] * 9])
def test_rows_of_text_with_drawn_keys(tmp_path, rows) -> None:
    table = pa.table({"page": pa.array(rows, pa.string()), "x": np.arange(len(rows))})
    curator = curator_of(table)
    budget = mo.approx(1, "1e-6")
    found = curator.count_to(tmp_path / "c.parquet", "page", key_budget=budget, epsilon=1)
    released = pd.read_parquet(found.path)
    shown = [key for key in ("a", "ö") if rows.count(key) > 99]
    assert released.page.tolist() == shown
    assert found.usable == bool(shown)
    assert pq.read_schema(found.path).names == COLUMNS


def test_columns_of_the_key_keep_their_order_and_types(tmp_path) -> None:
    day = pd.to_datetime(["2026-01-01", "2026-01-02"] * 2000)
    rows = pd.DataFrame({"site": ["de", "fr"] * 2000, "day": day.date, "n": [1] * 4000})
    rows["site"] = rows["site"].astype("str")
    table = pa.Table.from_pandas(rows, preserve_index=False)
    curator = curator_of(table)
    given = pa.table({"site": ["fr", "xx"], "day": pa.array(rows.day[1::-1], pa.date32())})
    found = curator.count_to(tmp_path / "c.parquet", "site", "day", keys=given, epsilon=1)
    released = pq.read_table(found.path)
    assert released.select(["site", "day"]) == given.cast(released.select([0, 1]).schema)
    assert released["value"].to_pylist() == pytest.approx([2000, 0], abs=50)
    drawn = curator.count_to(
        tmp_path / "d.parquet", "day", "site", key_budget=mo.approx(1, "1e-6"), epsilon=1
    )
    assert pq.read_table(drawn.path)["site"].to_pylist() == ["de", "fr"]
    assert pq.read_schema(drawn.path).field("day").type == pa.date32()


def test_small_values_are_left_out(tmp_path) -> None:
    found = complete(list(range(1000))).count_to(
        tmp_path / "c.parquet", "page", epsilon=1, at_least=500
    )
    released = pd.read_parquet(found.path)
    assert released.value.min() >= 500
    assert 480 < found.rows < 520


def test_rows_are_chosen_by_a_view(tmp_path) -> None:
    table = pa.table({"page": [1, 2] * 500, "bot": [0, 1] * 500})
    people = curator_of(table).where("bot == 0")
    keys = pa.table({"page": [1, 2]})
    found = people.count_to(tmp_path / "c.parquet", "page", keys=keys, epsilon=2)
    first, second = pd.read_parquet(found.path).value
    assert abs(first - 500) < 30 > abs(second)
    assert found.view == ("where bot == 0",)


def test_a_csv_file_has_keys_of_text(tmp_path) -> None:
    path = tmp_path / "views.csv"
    path.write_text("page,n\n1,30\n2,500\n,9\n2,70\n")
    keys = pa.table({"page": [1, 2, 3]})
    for table, truth in ((path, [1, 2, 0]), (mo.counted(path, "n"), [30, 570, 0])):
        out = tmp_path / f"{truth[0]}.parquet"
        curator_of(table).count_to(out, "page", keys=keys, epsilon=4)
        assert pd.read_parquet(out).value.tolist() == pytest.approx(truth, abs=9)


# One charge, one file.


def ledger_of(tmp_path, budget=None) -> dict:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("views", budget or mo.approx(5, "1e-3"))
    return {"ledger": url, "account": "views"}


def hidden(folder) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_one_entry_of_the_ledger_is_charged_for_keys_and_counts(tmp_path) -> None:
    options = ledger_of(tmp_path)
    curator = curator_of(mo.counted(table_of([50] * 100), "n"), **options)
    budget = mo.approx(1, "1e-4")
    found = curator.count_to(tmp_path / "c.parquet", "page", key_budget=budget, epsilon="0.5")
    entries = mo.Ledger(options["ledger"]).entries("views")
    assert [each.action for each in entries] == ["create", "charge", "release"]
    assert curator.spent == mo.approx("1.5", "1e-4")
    assert codec.from_text(entries[-1].body) == found
    assert len(entries[-1].body) < 2000
    assert parquet_out.digest_of(tmp_path / "c.parquet") == found.digest
    assert hidden(tmp_path) == []


def asked(curator, tmp_path, **more):
    more = {"epsilon": 1} | more
    return curator.idempotent("Monday").count_to(tmp_path / "c.parquet", "page", **more)


def test_a_key_gets_the_same_file_again(tmp_path) -> None:
    options = ledger_of(tmp_path)
    source = mo.counted(table_of([50] * 100), "n", complete=True)
    first = asked(curator_of(source, 1, **options), tmp_path)
    data = (tmp_path / "c.parquet").read_bytes()
    assert asked(curator_of(source, 2, **options), tmp_path) == first
    assert (tmp_path / "c.parquet").read_bytes() == data
    curator = curator_of(source, 3, **options)
    assert curator.spent.amount == 1
    with pytest.raises(mo.KeyReusedError):
        asked(curator, tmp_path, epsilon="0.5")
    with pytest.raises(mo.KeyReusedError):
        asked(curator, tmp_path, at_least=1)
    with pytest.raises(mo.InvalidArgument, match="there already"):
        curator.count_to(tmp_path / "c.parquet", "page", epsilon=1)
    assert curator.spent.amount == 1
    (tmp_path / "c.parquet").unlink()
    with pytest.raises(mo.LedgerError, match="gone or was changed"):
        asked(curator, tmp_path)
    (tmp_path / "c.parquet").write_bytes(data[:-1])
    with pytest.raises(mo.LedgerError, match="gone or was changed"):
        asked(curator, tmp_path)


class KilledError(BaseException):
    """The end of a process."""


def dies(*_args, **_more):
    raise KilledError


def test_a_process_that_dies_while_it_draws_publishes_nothing(tmp_path, monkeypatch) -> None:
    options = ledger_of(tmp_path)
    source = mo.counted(table_of([50] * 100), "n", complete=True)
    with monkeypatch.context() as patch:
        patch.setattr(bulk, "digest_of", dies)  # all is drawn and written by then
        with pytest.raises(KilledError):
            asked(curator_of(source, 1, **options), tmp_path)
    assert not (tmp_path / "c.parquet").exists()
    assert hidden(tmp_path) == []
    curator = curator_of(source, 2, **options)
    assert curator.spent.amount == 1  # charged before the draw
    found = asked(curator, tmp_path)
    assert curator.spent.amount == 1  # the same charge
    assert found.rows == 100


def test_a_process_that_dies_after_the_record_has_its_file_put_into_its_place(
    tmp_path, monkeypatch
) -> None:
    options = ledger_of(tmp_path)
    source = mo.counted(table_of([50] * 100), "n", complete=True)
    with monkeypatch.context() as patch:
        renamed = bulk.Path.replace

        def dies_at_last(path, to):
            return dies() if path.name.endswith(".ready") else renamed(path, to)

        patch.setattr(bulk.Path, "replace", dies_at_last)
        with pytest.raises(KilledError):
            asked(curator_of(source, 1, **options), tmp_path)
    assert not (tmp_path / "c.parquet").exists()
    found = asked(curator_of(source, 2, **options), tmp_path)
    assert parquet_out.digest_of(tmp_path / "c.parquet") == found.digest
    assert hidden(tmp_path) == []


def test_of_two_draws_on_one_charge_the_first_that_is_recorded_stays(tmp_path, monkeypatch) -> None:
    options = ledger_of(tmp_path)
    source = mo.counted(table_of([50] * 100), "n", complete=True)
    real, others = bulk.write, []

    def overtaken(*args):
        if not others:
            others.append(None)
            others[0] = asked(curator_of(source, 2, **options), tmp_path)
        return real(*args)

    monkeypatch.setattr(bulk, "write", overtaken)
    found = asked(curator_of(source, 1, **options), tmp_path)
    assert found == others[0]
    assert parquet_out.digest_of(tmp_path / "c.parquet") == found.digest
    assert hidden(tmp_path) == []
    assert curator_of(source, 3, **options).spent.amount == 1


def test_a_slower_process_may_put_the_file_into_its_place(tmp_path, monkeypatch) -> None:
    options = ledger_of(tmp_path)
    source = mo.counted(table_of([50] * 100), "n", complete=True)
    real, others = bulk.Path.replace, []

    def helped(path, to):
        if path.name.endswith(".ready") and not others:
            others.append(None)
            others[0] = asked(curator_of(source, 2, **options), tmp_path)
        return real(path, to)

    monkeypatch.setattr(bulk.Path, "replace", helped)
    found = asked(curator_of(source, 1, **options), tmp_path)
    assert others == [found]
    assert parquet_out.digest_of(tmp_path / "c.parquet") == found.digest
    assert hidden(tmp_path) == []


def test_a_cost_with_a_delta_is_treated_as_by_a_count(tmp_path) -> None:
    one, many = (curator_of(PAGES, budget=mo.approx(2, "1e-3")) for _ in range(2))
    release = one.count(budget=KEY_BUDGET)
    found = many.count_to(tmp_path / "c.parquet", "page", keys=PAGES, budget=KEY_BUDGET)
    assert found.event == release.event
    assert many.spent == one.spent


def test_it_is_charged_before_anything_is_drawn(tmp_path, monkeypatch) -> None:
    curator = complete([1, 2, 3])
    seen = []
    real = LaplaceNoise.added_to

    def spying(noise, values, entropy):
        seen.append(curator.spent.amount)
        return real(noise, values, entropy)

    monkeypatch.setattr(LaplaceNoise, "added_to", spying)
    curator.count_to(tmp_path / "c.parquet", "page", epsilon=2)
    assert seen == [2]


# What is refused, and says so before anything is read or charged.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 1}, "give one of keys="),
        ({"epsilon": 1, "keys": PAGES, "key_budget": KEY_BUDGET}, "give one of keys="),
        ({"keys": PAGES}, "epsilon"),
        ({"epsilon": 99, "keys": PAGES}, "only"),
        ({"epsilon": 1, "key_budget": mo.pure(1)}, "key_budget must be"),
        ({"epsilon": 1, "keys": PAGES, "level": 1}, "level must be"),
        ({"epsilon": 1, "keys": PAGES, "at_least": 0.5}, "at_least must be"),
        ({"epsilon": 1, "keys": PAGES, "path": "c.csv"}, "must end in .parquet"),
        ({"epsilon": 1, "keys": PAGES, "path": "no/c.parquet"}, "there is no folder"),
        ({"epsilon": 1, "keys": PAGES, "path": 5}, "must name a file"),
        ({"epsilon": 1, "keys": pa.table({"page": ["a"]})}, "no row could have such a key"),
        ({"epsilon": 1, "keys": pa.table({"other": [1]})}, "there is no column 'page'"),
        ({"epsilon": 1, "keys": pa.table({"page": [1, 1]})}, "must be different"),
        ({"epsilon": 1, "keys": PAGES, "by": "pages"}, "there is no column 'pages'"),
        ({"epsilon": 1, "keys": PAGES, "by": "x"}, "declared as double"),
        ({"epsilon": 1, "keys": PAGES, "by": "value"}, "no column of keys can have the name"),
    ],
)
def test_what_is_refused_costs_nothing(tmp_path, monkeypatch, options, words) -> None:
    monkeypatch.chdir(tmp_path)
    curator = curator_of(pa.table({"page": [1, 2], "x": [1.0, 2.0], "value": [1, 2]}))
    path, by = options.pop("path", "c.parquet"), options.pop("by", "page")
    with pytest.raises(mo.ModicumError, match=words):
        curator.count_to(path, by, **options)
    assert curator.spent.amount == 0
    assert list(tmp_path.iterdir()) == []


def test_persons_are_bounded_beforehand(tmp_path) -> None:
    table = pa.table({"page": [1, 2], "who": [1, 1]})
    curator = curator_of(table, unit=mo.unit_of("who", max_rows=2), budget=mo.pure(1))
    with pytest.raises(mo.InvalidArgument, match=r"unit_of\(rows=m\)"):
        curator.count_to(tmp_path / "c.parquet", "page", keys=PAGES, epsilon=1)


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(record_batches, "find_spec", lambda _: None)
    with pytest.raises(mo.InvalidArgument, match=r"pip install pyarrow"):
        complete([1]).count_to(tmp_path / "c.parquet", "page", epsilon=1)


def test_exact_counts_are_no_key(tmp_path) -> None:
    curator = complete([1, 2])
    with pytest.raises(mo.InvalidArgument, match="no column of keys can have the name 'n'"):
        curator.count_to(tmp_path / "c.parquet", "n", epsilon=1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.mean("n", epsilon=1),
        lambda c: c.count(epsilon=1),
        lambda c: c.count("page", epsilon=1),
        lambda c: c.group_by("page", keys=[1]).count(epsilon=1),
        lambda c: c.group_by("page", "n", keys=[(1, 1)]),
        lambda c: c.group_by("page", key_budget=KEY_BUDGET),
        lambda c: c.where("n > 1"),
        lambda c: c.with_columns(m="n + 1"),
        lambda c: c.mean_vector(["n", "page"], budget=KEY_BUDGET),
        lambda c: c.ratio("n", "page", epsilon=1),
    ],
)
def test_a_table_of_counts_answers_nothing_else(ask) -> None:
    curator = complete([1, 2, 3])
    with pytest.raises(mo.InvalidArgument, match=r"answers count_to\(\) only"):
        ask(curator)
    assert curator.spent.amount == 0


def test_a_table_of_counts_is_not_described() -> None:
    with pytest.raises(mo.InvalidArgument, match="no column can be described"):
        complete([1, 2, 3]).describe(epsilon=1)


def test_counts_are_integers_of_a_table() -> None:
    table = pa.table({"k": ["a"], "n": [1.0], "m": [2]})
    with pytest.raises(mo.UnsupportedData, match="counts are integers"):
        mo.counted(table, "n")
    with pytest.raises(mo.MissingColumn):
        mo.counted(table, "o")
    with pytest.raises(mo.UnsupportedData, match="from a table itself"):
        mo.counted(mo.counted(table, "m"), "m")
    with pytest.raises(mo.InvalidArgument, match="answers"):
        mo.Curator(mo.counted(table, "m"), unit=mo.unit_of("k"), budget=mo.pure(1))


def test_counts_that_cannot_be_streamed_are_refused_before_the_charge(tmp_path) -> None:
    path = tmp_path / "views.csv"
    path.write_text("page,n\n1,30\n")
    curator = curator_of(mo.counted(path, "n"))
    with pytest.raises(mo.UnsupportedData, match="read from Parquet"):
        curator.count_to(tmp_path / "c.parquet", "page", key_budget=KEY_BUDGET, epsilon=1)
    assert curator.spent.amount == 0
    assert [each.name for each in tmp_path.iterdir()] == ["views.csv"]


def test_text_that_no_file_can_hold_does_not_fail(tmp_path) -> None:
    labels = pd.Index(["\ud800"], dtype=object)
    odd = pd.DataFrame({"page": pd.Categorical.from_codes([0] * 900, labels)})
    found = curator_of(odd).count_to(
        tmp_path / "c.parquet", "page", key_budget=KEY_BUDGET, epsilon=1
    )
    assert pd.read_parquet(found.path).page.tolist() == ["?"]


def test_an_empty_complete_table_is_refused(tmp_path) -> None:
    with pytest.raises(mo.InvalidArgument, match="has no rows"):
        complete([]).count_to(tmp_path / "c.parquet", "page", epsilon=1)
    assert list(tmp_path.iterdir()) == []


def test_what_the_record_and_the_file_say(tmp_path) -> None:
    source = mo.counted(table_of([500] * 30), "n")
    found = curator_of(source).count_to(
        tmp_path / "c.parquet", "page", key_budget=KEY_BUDGET, epsilon=1, at_least=9, level=0.9
    )
    text = str(found)
    for words in (
        "counts of rows (n for each key) by page: 30 keys in c.parquet",
        "90 % interval  ±2 for each count",
        "ε = 1 for one row, all keys together (add-remove; swap: ε = 2)",
        "drawn, for (ε, δ) = (1, 0.000001)",
        "values of at least 9",
        found.digest,
        "WARNING",
    ):
        assert words in text
    said = json.loads(pq.read_schema(found.path).metadata[b"modicum"])
    record = json.loads(found.to_json())
    assert said.items() <= record.items()
    assert {*record} - {*said} == {"path", "sha256", "rows", "account", "usable"}
    assert found.digest in found._repr_html_()
    assert repr(found).endswith("30 keys)")
    with pytest.raises(AttributeError):
        found.rows = 1


def test_the_size_of_the_blocks_does_not_show(tmp_path, monkeypatch) -> None:
    """Row groups end where the released rows say, in blocks of one size."""
    monkeypatch.setattr("modicum.api.tables.key_blocks.BLOCK", 64)
    table = pa.table({"page": np.repeat(np.arange(300)[::-1], 50)})
    found = curator_of(table).count_to(
        tmp_path / "c.parquet", "page", key_budget=KEY_BUDGET, epsilon=1
    )
    file = pq.ParquetFile(found.path)
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert found.rows == 300
    assert sizes == [64, 64, 64, 64, 44]
    assert file.read()["page"].to_pylist() == list(range(300))


# The command line.


def test_the_command_writes_the_same_file(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(table_of([500, 0, 7000]), "counts.parquet")
    pq.write_table(PAGES, "pages.parquet")
    rows = pa.table({"page": [1] * 400 + [2] * 300 + [3] * 9})
    pq.write_table(rows, "rows.parquet")
    drawn = "--key-epsilon 1 --key-delta 1e-6"
    cases = {
        "counts.parquet --counts n --complete": [500, 0, 7000],
        f"counts.parquet --counts n {drawn} --at-least 5": [500, 7000],
        "counts.parquet --counts n --keys-file pages.parquet": [0, 7000],
        "rows.parquet --keys-file pages.parquet --where page<2": [400, 0],
        f"rows.parquet {drawn} --level 0.5": [400, 300],
    }
    for number, (words, truth) in enumerate(cases.items()):
        out = f"out{number}.parquet"
        assert main(["count", *words.split(), "--by", "page", "--epsilon", "4", "--to", out]) == 0
        assert "not counted against any budget" in capsys.readouterr().out
        assert pd.read_parquet(out).value.tolist() == pytest.approx(truth, abs=12)
    words = ["count", "rows.parquet", *drawn.split(), "--by", "page", "--epsilon", "1", "--json"]
    assert main([*words, "--where", "page > 3", "--to", "none.parquet"]) == 3
    assert json.loads(capsys.readouterr().out)["rows"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--by page --to c.parquet", "a cost is needed"),
        ("--epsilon 1 --to c.parquet", "--by"),
        ("page --by page --epsilon 1 --to c.parquet", "--by"),
        ("--by page --keys 1,2 --epsilon 1 --to c.parquet", "goes without --keys"),
        ("--by page --complete --epsilon 1 --to c.parquet", "--complete needs --counts"),
        ("--by page --key-epsilon 1 --epsilon 1 --to c.parquet", "go together"),
        ("--by page --keys 1 --epsilon 1 --at-least 3", "need --to"),
        ("--by page --epsilon 1 --to c.parquet", "give one of --keys-file"),
    ],
)
def test_the_command_refuses(tmp_path, monkeypatch, capsys, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(PAGES, "rows.parquet")
    assert main(["count", "rows.parquet", *words.split()]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
