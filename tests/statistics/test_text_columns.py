"""A column of text in a file without types has one answer: that it has no numbers."""

import collections
from pathlib import Path

import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

WORDS = ["word", "1,231 kg", "2024-01-31", "12:31", "NA"]
WITHIN = {"within": (0, 100)}
ASKS = {
    "mean": lambda c: c.mean("x", epsilon=1),
    "mean within": lambda c: c.mean("x", **WITHIN, epsilon=1),
    "zcdp": lambda c: c.mean("x", **WITHIN, rho=0.5),
    "median": lambda c: c.median("x", **WITHIN, epsilon=1),
    "std": lambda c: c.std("x", **WITHIN, epsilon=1),
    "trimmed": lambda c: c.trimmed_mean("x", trim=0.1, **WITHIN, epsilon=1),
    "sum": lambda c: c.sum("x", **WITHIN, epsilon=1),
    "small sum": lambda c: c.sum("x", **WITHIN, epsilon="0.1"),
    "small": lambda c: c.mean("x", **WITHIN, epsilon="0.1"),
}


@pytest.mark.parametrize("ask", ASKS)
def test_text_is_told_from_too_few_numbers(ask: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f'"{WORDS[i % 5]}",{i % 90}\n' for i in range(3000)))
    codes = collections.Counter()
    for number in range(60):
        budget = mo.zcdp(1) if ask == "zcdp" else mo.pure(1)
        curator = mo.Curator(path, budget=budget, entropy=SeededEntropy(f"{ask} {number}"))
        codes[ASKS[ask](curator).code] += 1
    assert codes["no_values"] >= 59, codes


def test_numbers_are_not_called_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "".join(f"{i % 90}\n" for i in range(300)))
    for number in range(60):
        curator = mo.Curator(path, budget=mo.pure(1), entropy=SeededEntropy(number))
        assert curator.mean("x", **WITHIN, epsilon=1).code != "no_values"
