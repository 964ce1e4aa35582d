"""Releases as JSON: every kind follows the published schema, and is read back as it was."""

import json
import pickle
import random
import re
from collections import Counter
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy
from modicum.releases.publishable import Publishable
from tests.golden.corpus import cases, tables
from tests.mutations import at, mutated, places

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/reference/schema/release.schema.json").read_text("utf-8")
)
CHECK = jsonschema.Draft202012Validator(SCHEMA)
REPR = re.compile(r"\w+\([^)]*=|Fraction\(|<.* object|range\(")
DATA = tables()
CASES = list(cases())

N = 6000
TABLE = pd.DataFrame(
    {
        "x": np.random.default_rng(1).lognormal(3, 1, N),
        "place": ["North", "</script>\u202e"] * (N // 2),
        "sex": ["f", "f", "m"] * (N // 3),
        "who": np.arange(N) // 3,
    }
)
PLACES = ["North", "</script>\u202e"]
BOTH = {"place": PLACES, "sex": ["f", "m"]}
KINDS = {
    "number": lambda c: c.mean("x", epsilon=1),
    "view": lambda c: c.where("sex == 'f'").count(epsilon=1),
    "population": lambda c: c.mean("x", population=True, epsilon=1),
    "quantiles of a population": lambda c: c.quantiles(
        "x", q=[0.2, 0.8], population=True, epsilon=1
    ),
    "slopes of a population": lambda c: c.linear_regression(
        ["who"], target="x", population=True, epsilon=4
    ),
    "together": lambda c: c.release(
        mean=mo.query.mean("x", epsilon=1),
        spread=mo.query.quantiles("x", q=[0.2, 0.8], epsilon=1),
    ),
    "several": lambda c: c.histogram("x", edges=[0, 10, np.inf], epsilon=1),
    "groups": lambda c: c.group_by("place", "sex", keys=BOTH).mean("x", epsilon=1),
    "drawn keys": lambda c: c.group_by("place", key_budget=mo.approx(1, "1e-6")).count(epsilon=1),
    "arrays": lambda c: c.group_by("sex", keys=["f", "m"]).quantiles("x", q=[0.5], epsilon=1),
    "crosstab": lambda c: c.crosstab("place", "sex", keys=BOTH, epsilon=1),
    "sums": lambda c: c.crosstab("sex", keys=["f"], values="x", within=(0, 1e6), epsilon=1),
    "value counts": lambda c: c.value_counts("place", keys=PLACES, epsilon=1),
    "description": lambda c: c.describe(budget=mo.approx(2, "1e-6")),
    "nothing": lambda c: c.where("place == 'nowhere'").mean("x", epsilon="0.1"),
}


def released(kind: str):
    return KINDS[kind](mo.Curator(TABLE, budget=mo.approx(50, "1e-5")))


def strings(data):
    if isinstance(data, dict):
        for each in data.values():
            yield from strings(each)
    elif isinstance(data, list):
        for each in data:
            yield from strings(each)
    elif isinstance(data, str):
        yield data


def check(release: Publishable) -> None:
    text = release.to_json()
    record = json.loads(text)
    CHECK.validate(record)
    again = type(release).from_json(text)
    assert again == release
    assert again.to_json() == text
    assert Publishable.from_json(release.to_json(indent=2)) == release
    for draw in record.get("transcript", ()):
        assert not [each for each in strings(draw["parameters"]) if REPR.search(each)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("statistic", dict.fromkeys(case.row.statistic for case in CASES))
def test_every_statistic_follows_the_schema(statistic) -> None:
    for case in CASES:
        if case.row.statistic == statistic and case.table == "few":
            check(case.released(DATA["few"]))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", dict.fromkeys(case.row.statistic for case in CASES))
def test_every_case_of_the_corpus_follows_the_schema(statistic) -> None:
    for case in CASES:
        if case.row.statistic == statistic and case.table != "few":
            check(case.released(DATA[case.table]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_follows_the_schema(kind) -> None:
    release = released(kind)
    check(release)
    assert pickle.loads(pickle.dumps(release)) == release


def test_persons_follow_the_schema() -> None:
    curator = mo.Curator(TABLE, unit=mo.unit_of("who"), budget=mo.zcdp(9))
    check(curator.mean("x", rho="0.1"))
    check(curator.median("x", rho="0.1"))


@pytest.mark.parametrize(
    "change",
    [
        {"value": 3.0},
        {"code": "few_records", "usable": False},
        {"epsilon_exact": "1/2"},
        {"unit": "one person"},
        {"private": False},
        {"statistic": "median"},
    ],
)
def test_what_was_edited_is_refused(change) -> None:
    record = json.loads(released("number").to_json())
    with pytest.raises(mo.InvalidArgument, match="was edited"):
        mo.Release.from_json(json.dumps(record | change))


def test_a_number_of_a_group_that_was_edited_is_refused() -> None:
    record = json.loads(released("groups").to_json())
    record["groups"][1]["release"]["value"] += 1
    with pytest.raises(mo.InvalidArgument, match="was edited"):
        mo.GroupedRelease.from_json(json.dumps(record))


@pytest.mark.parametrize("change", [{"value": 1.0}, {"unit": "a person"}, {"private": False}])
def test_what_groups_say_alike_and_was_edited_is_refused(change) -> None:
    record = json.loads(released("groups").to_json())
    for alike in (record["alike"] | change, {}):
        with pytest.raises(mo.InvalidArgument, match="was edited"):
            mo.GroupedRelease.from_json(json.dumps(record | {"alike": alike}))


def pooled(groups: int) -> mo.GroupedRelease:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {"g": np.arange(10 * groups) % groups, "x": rng.lognormal(3, 1, 10 * groups)}
    )
    curator = mo.Curator(table, budget=mo.pure(1), entropy=SeededEntropy(1))
    return curator.group_by("g", keys=range(groups)).mean("x", epsilon=1)


def test_what_groups_share_is_written_once() -> None:
    """So that a group takes as much of it, however many there are."""
    sizes = [len(pooled(groups).to_json()) / groups for groups in (300, 900)]
    assert sizes[1] < sizes[0] < 6000
    release = pooled(300)
    text = release.to_json()
    record = json.loads(text)
    CHECK.validate(record)
    whole = record["groups"][7]["release"]
    assert not whole.keys() & record["alike"].keys()
    one = json.loads(release[7].to_json())
    assert {**record["alike"], **whole} == {
        name: of for name, of in one.items() if name not in {"transcript", "stored"}
    }
    again = mo.GroupedRelease.from_json(text)
    assert again == release
    assert again.to_json() == text
    assert again[7].transcript[0] is again[8].transcript[0]
    assert text.count("all groups: records between the bounds") == 1


@pytest.mark.parametrize("part", [-1, 99, True, "0", None, [], {"part": 0}])
def test_a_part_that_is_not_there_is_refused(part) -> None:
    record = json.loads(released("groups").to_json())
    record["stored"]["value"]["GroupedRelease"]["unit"] = {"part": part}
    with pytest.raises(mo.InvalidArgument):
        mo.GroupedRelease.from_json(json.dumps(record))


def test_a_part_holds_earlier_ones_only() -> None:
    record = json.loads(released("groups").to_json())
    parts = record["stored"]["parts"]
    for place in (0, len(parts) - 1):
        damaged = json.loads(json.dumps(record))
        damaged["stored"]["parts"][0] = {"tuple": [{"part": place}]}
        with pytest.raises(mo.InvalidArgument):
            mo.GroupedRelease.from_json(json.dumps(damaged))


def test_groups_that_an_earlier_version_wrote_are_read() -> None:
    """With whole releases in each group, and everything in each of what is stored."""
    written = json.loads((Path(__file__).parent / "grouped_before_parts.json").read_text("utf-8"))
    assert len(written) == 3
    for text in written:
        said = json.loads(text)
        assert said["schema"] == "modicum.grouped/2"
        release = Publishable.from_json(text)
        for group, each in zip(said["groups"], release.values(), strict=True):
            assert set(each.facts()) == set(group["release"])
            assert len(each.transcript) == len(group["release"]["transcript"])
        check(release)
        said["groups"][-1]["release"]["code"] = "clipped"
        with pytest.raises(mo.InvalidArgument, match="was edited"):
            Publishable.from_json(json.dumps(said))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "{}",
        '{"stored": 3}',
        '{"stored": {"schema": "modicum.stored/2", "value": {"tuple": []}}}',
        '{"stored": {"schema": "modicum.stored/9", "value": {}}}',
        '{"stored": {"schema": "modicum.stored/2", "value": {"Release": {}}}}',
        '{"stored": {"schema": "modicum.stored/2", "value": {"os": {"system": "ls"}}}}',
        "[" * 100_000,
        None,
        b"\xff",
    ],
)
def test_what_is_no_release_is_refused(text) -> None:
    with pytest.raises(mo.InvalidArgument):
        Publishable.from_json(text)


def test_a_damaged_record_is_refused() -> None:
    record = json.loads(released("number").to_json())
    inside = record["stored"]["value"]["Release"]
    for name in inside:
        with pytest.raises(mo.InvalidArgument):
            mo.Release.from_json(json.dumps(replaced(record, name)))


def replaced(record, name):
    changed = json.loads(json.dumps(record))
    inside = changed["stored"]["value"]["Release"]
    inside[name] = not inside[name] if isinstance(inside[name], bool) else {"tuple": ["x"]}
    return changed


def test_a_record_of_another_kind_is_refused() -> None:
    with pytest.raises(mo.InvalidArgument, match="is a Release, not an ArrayRelease"):
        mo.ArrayRelease.from_json(released("number").to_json())


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_that_is_seen_is_checked(kind) -> None:
    """Changed by itself, each is refused: numbers, words, what is missing, and their types."""
    text = released(kind).to_json()
    tree = json.loads(text)
    del tree["stored"]
    seen = [*places(tree)]
    for path in random.Random(kind).sample(seen, min(len(seen), 12)):
        changed = json.loads(text)
        where, last = at(changed, path[:-1]), path[-1]
        value = where[last]
        where[last] = not value if isinstance(value, bool) else value * 3 + 1 if value and (
            isinstance(value, int | float)
        ) else [value]  # fmt: skip
        if last == "interval_tail" and value is not None:
            continue  # the interval is that under another assumption, of which it may be no other
        with pytest.raises(mo.InvalidArgument):
            Publishable.from_json(json.dumps(changed))


def test_what_is_written_at_another_level_is_read_and_checked(tmp_path, capsys) -> None:
    path = tmp_path / "t.csv"
    TABLE.to_csv(path, index=False)
    usual, level = ["--epsilon=1", "--json", "--level=0.8"], '"interval_level": 0.8'
    for verb, *words in (
        *(("mean", "x", f"--tail={tail}") for tail in ("auto", "2.5", "none")),
        *(("mean", "x", "--by=sex", "--keys=f,m", f"--tail={tail}") for tail in ("auto", "none")),
        ("quantiles", "x", "--q=0.2,0.8"),
    ):
        assert main([verb, str(path), *words, *usual]) == 0
        text = capsys.readouterr().out
        assert level in text
        assert Publishable.from_json(text).to_json() != text
        if verb == "mean":  # quantiles may have the same interval at both levels
            with pytest.raises(mo.InvalidArgument, match="was edited"):
                Publishable.from_json(text.replace(level, '"interval_level": 0.9'))


def test_what_an_earlier_version_wrote_is_read() -> None:
    """Without a seal, and in other words; what is worth a number is compared all the same."""
    release = released("number")
    record = json.loads(release.to_json()) | {"status": release.status}
    del record["stored"]["sha256"]
    record["interval"] = [0.0, 1.0]
    assert mo.Release.from_json(json.dumps(record)) == release
    for name in ("epsilon", "neighbours", "unit_rows"):
        with pytest.raises(mo.InvalidArgument, match="was edited"):
            mo.Release.from_json(json.dumps(record | {name: 7}))
    record["stored"]["value"]["Release"]["transcript"] = {"tuple": ["x"]}
    with pytest.raises(mo.InvalidArgument):
        mo.Release.from_json(json.dumps(record))


@pytest.mark.parametrize("number", ["1e10000000", "1e999999999", "9" * 5000, "1/" + "3" * 5000])
def test_numbers_without_end_are_refused_at_once(number) -> None:
    """Without a seal, each stored fraction by itself."""
    text = released("view").to_json()
    record = json.loads(text)
    del record["stored"]["sha256"]
    fractions = [path for path in places(record["stored"]) if path[-1] == "fraction"]
    assert fractions
    for path in fractions:
        changed = json.loads(json.dumps(record))
        at(changed["stored"], path[:-1])["fraction"] = number
        with pytest.raises(mo.InvalidArgument):
            mo.Release.from_json(json.dumps(changed))


def shown(record: Publishable) -> list[str]:
    """All that a record shows."""
    said = [str(record), repr(record), record._repr_html_(), record.to_json()]
    said += [str(record.explain())] if hasattr(record, "explain") else []
    return said + ([str(record.frame())] if hasattr(record, "frame") else [])


def mutate(number: int, seed: str) -> Counter[str]:
    """Change texts of all kinds: each is refused, or read as what it was."""
    draws, seen = random.Random(seed), Counter[str]()
    texts = {kind: released(kind).to_json() for kind in KINDS}
    wanted = {kind: shown(Publishable.from_json(text)) for kind, text in texts.items()}
    for _ in range(number):
        kind = draws.choice([*KINDS])
        changed = mutated(texts[kind], draws)
        try:
            found = Publishable.from_json(changed)
        except mo.ModicumError:
            seen["refused"] += 1
            continue
        assert shown(found) == wanted[kind], changed
        seen["read"] += 1
    return seen


def test_a_hundred_changes_of_any_kind() -> None:
    assert mutate(100, "quick")["refused"] > 50


@pytest.mark.slow
def test_ten_thousand_changes_of_any_kind(record_property) -> None:
    seen = mutate(10_000, "slow")
    assert seen["refused"] > 5000
    record_property("counted", f"changes of releases in JSON: {dict(seen)}, no fault")


@pytest.mark.parametrize("method", ["adaptive", "subset", "bounded"])
def test_noise_that_is_wider_than_the_floats_is_written(method) -> None:
    """Of values at both ends of nearly the widest range, for a small budget."""
    x = np.repeat([-2e307, 2e307], 2000)
    curator = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy(1))
    release = curator.mean(within=(-2e307, 2e307), method=method, epsilon="0.1")
    assert json.loads(release.to_json())["error_model"]["noise_sd"] > 1e305
