"""Where no answer can be used, no number is shown; words fit the question, and say what helps."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.api.group_by import LARGEST_DELTA
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy
from modicum.releases.publishing import text
from modicum.releases.status import Status
from modicum.statistics.order import quantile
from modicum.statistics.ranges import found_range
from modicum.statistics.tails import outside

FEW = pd.DataFrame(
    {
        "x": [1.0, 2.0, 3.0],
        "g": ["a", "b", "a"],
        "p": [1, 2, 3],
    }
)
NUMBERS = re.compile(r"\d[\d.]*e[+-]?\d{2,}|∞|\d{1,3}(,\d{3}){2,}")


def of(unit=None, seed: str = "few") -> mo.Curator:
    return mo.Curator(FEW, unit=unit, budget=mo.pure(1000), entropy=SeededEntropy(seed))


ASKED = {
    "mean": lambda c: c.mean("x", epsilon=1),
    "sum": lambda c: c.sum("x", epsilon=1),
    "std": lambda c: c.std("x", epsilon=1),
    "median": lambda c: c.median("x", epsilon=1),
    "max": lambda c: c.max("x", epsilon=1),
    "quantiles": lambda c: c.quantiles("x", q=[0.2, 0.6], epsilon=1),
    "vectors": lambda c: c.mean_vector(["x", "p"], epsilon=1),
    "cells": lambda c: c.crosstab("g", keys=["a", "b"], values="x", epsilon=1),
    "groups": lambda c: c.group_by("g", keys=["a", "b"]).mean("x", epsilon=1),
}


@pytest.mark.parametrize("name", ASKED)
def test_no_number_is_shown_where_none_can_be_used(name: str) -> None:
    found = ASKED[name](of())
    assert not found.usable
    assert not NUMBERS.search(str(found)), str(found)
    assert "interval  [" not in str(found)
    assert not NUMBERS.search(found._repr_html_())
    assert not NUMBERS.search(repr(found))
    assert "no usable answer" in str(found) or "not usable" in str(found)
    told = json.loads(found.to_json())
    assert not told["usable"]
    assert type(found).from_json(found.to_json()) == found  # which was paid for, and is kept


def test_some_groups_and_differences() -> None:
    rows = pd.DataFrame({"x": np.r_[np.arange(5000) % 90, 5.0], "g": ["a"] * 5000 + ["b"]})
    curator = mo.Curator(rows, budget=mo.pure(9), entropy=SeededEntropy("some"))
    grouped = curator.group_by("g", keys=["a", "b"]).mean("x", epsilon=4)
    assert (grouped["a"].usable, grouped["b"].usable) == (True, False)
    lines = str(grouped).splitlines()
    assert re.fullmatch(r"  b +–  not usable \(\w+\)", lines[3])
    assert not NUMBERS.search(grouped._repr_html_())
    between = grouped.difference("a", "b")
    assert "no usable answer" in str(between)
    assert not NUMBERS.search(str(between) + between._repr_html_() + repr(between))
    assert list(grouped.frame()["usable"]) == [True, False]


def test_the_command_line_and_reports_show_none(tmp_path, capsys) -> None:
    path = tmp_path / "few.csv"
    FEW.to_csv(path, index=False)
    page = tmp_path / "page.html"
    assert main(["mean", str(path), "x", "--epsilon", "1", "--report", str(page)]) == 3
    assert not NUMBERS.search(capsys.readouterr().out)
    shown = page.read_text("utf-8").partition('id="record"')[0]
    assert "cannot be used" in shown


def test_an_end_beyond_all_floats_is_written_so() -> None:
    assert text.interval(-1.7976931348623157e308, 5.0) == "[-∞, 5]"


RANGED = [
    *(each for each in vars(outside).values() if isinstance(each, Status)),
    *(found_range.TOO_FEW, found_range.NOTHING, found_range.BEYOND, found_range.AT_END),
    quantile.TOO_LITTLE,
]


@pytest.mark.parametrize("status", RANGED, ids=lambda each: each.words[:40])
def test_what_has_no_range_is_not_told_to_narrow_one(status: Status) -> None:
    assert "within" not in status.without_range.words
    assert status.without_range.code == status.code


@pytest.mark.parametrize("unit", [mo.unit_of("p"), mo.unit_of("p", max_rows=2), mo.Unit()], ids=str)
def test_counts_do_not_speak_of_a_range(unit: mo.Unit) -> None:
    for curator in (of(unit, "c1"), of(unit, "c2")):
        for found in (
            curator.count(epsilon="0.01"),
            curator.value_counts(
                "g", keys=["a", "b"], max_groups=1 if unit.whole else None, epsilon="0.01"
            ),
            curator.group_by("g", keys=["a", "b"]).count(epsilon="0.01"),
        ):
            assert "within" not in str(found)


def test_notes_of_persons_offer_what_counts_each_once() -> None:
    for code in ("heavy_tail", "unseen"):
        words = Status(code, "of rows").of_persons("patient").words
        assert "unit_of('patient', combine='mean') counts each person once" in words
        assert "persons (patient)" in words
    rng = np.random.default_rng(4)
    rows = np.minimum(np.ceil(rng.pareto(1.2, 3000) + 0.001), 400).astype(int)
    table = pd.DataFrame({"p": np.repeat(np.arange(3000), rows)})
    table["x"] = rng.integers(0, 90, len(table)).astype(float)
    found = mo.mean(table, "x", within=(0, 120), unit=mo.unit_of("p"), epsilon=2)
    if found.code in {"heavy_tail", "unseen"}:
        assert "combine='mean'" in found.status


def test_a_column_of_text_is_not_told_to_spend_more_only(tmp_path) -> None:
    """Whatever the noise of the count is, the words say what else may be the reason."""
    path = tmp_path / "words.csv"
    path.write_text("w\n" + "word\n" * 2000)
    for number in range(40):
        curator = mo.Curator(path, budget=mo.pure(1), entropy=SeededEntropy(f"words {number}"))
        found = curator.mean("w", epsilon=1)
        assert not found.usable
        assert "modicum check" in found.status


@pytest.mark.parametrize("delta", ["0.5", "0.99", "0.02"])
def test_a_large_delta_of_keys_is_refused(delta: str) -> None:
    curator = mo.Curator(FEW, budget=mo.approx(9, "0.995"))
    budget = mo.approx(1, delta)
    for ask in (
        lambda: curator.group_by("g", key_budget=budget),
        lambda: curator.value_counts("g", key_budget=budget, epsilon=1),
        lambda: curator.crosstab("g", "p", key_budget=budget, epsilon=1),
        lambda: mo.value_counts(FEW, "g", key_budget=budget, epsilon=1),
    ):
        with pytest.raises(mo.InvalidArgument, match=r"must be 0.01 at most.*1e-6"):
            ask()
    assert curator.charges == ()
    assert float(LARGEST_DELTA) == 0.01
    curator.group_by("g", key_budget=mo.approx(1, "0.01"))


def test_a_description_says_what_its_means_are_of() -> None:
    rng = np.random.default_rng(3)
    ages = np.where(rng.random(5050) < 0.02, 999.0, rng.normal(52, 12, 5050))
    found = mo.describe(pd.DataFrame({"age": ages}), epsilon=1)
    assert "means are of the values near the quartiles" in " ".join(str(found).split())
    assert "means are of the values near the quartiles" in found._repr_html_()
    assert 80 < found.means_apart < 1000
    assert set(found.frame()["code"]) <= {"ok", "wide_noise", "unseen", "heavy_tail"}
    truths = mo.describe(pd.DataFrame({"b": [True, False] * 999}), epsilon=1)
    assert "means are of" not in str(truths)


def test_a_file_with_text_gets_the_command_for_its_numbers(tmp_path, capsys) -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"day": ["2026-01-02"] * 4000, "first name": ["Ada"] * 4000})
    table = table.assign(age=rng.integers(0, 90, 4000), sex="f", cost=rng.normal(size=4000))
    table.to_csv(tmp_path / "visits.csv", index=False)
    path = str(tmp_path / "visits.csv")
    assert main(["describe", path, "--where", "age > 1", "--epsilon", "5"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"  next     modicum describe {path} age cost --where 'age > 1' --epsilon 5"
    assert main(["describe", path, "age", "cost", "--epsilon", "5"]) == 0
    assert "next" not in capsys.readouterr().out


def test_an_interrupted_command_says_what_was_charged(tmp_path, capsys, monkeypatch) -> None:
    path = tmp_path / "few.csv"
    FEW.to_csv(path, index=False)
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("a", mo.pure(2))
    command = ["count", str(path), "--epsilon", "1"]
    counted = [*command, "--ledger", url, "--account", "a"]

    def interrupts(module: str, name: str, given: list[str]) -> str:
        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(f"{module}.{name}", stop)
            assert main(given) == 130
        return capsys.readouterr().err

    early = "modicum.runtime.run", "_supply"
    assert "nothing was released or charged" in interrupts(*early, command)
    said = interrupts(*early, counted)
    assert "nothing was charged to account 'a'" in said
    said = interrupts("modicum.runtime.ledger_account._LedgerCharge", "commit", counted)
    assert "nothing was shown, and ε = 1 was charged to account 'a'" in said
