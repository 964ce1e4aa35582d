"""The table of Dick et al. (2023): what its verdict refuses; its files are those of this tree."""

from pathlib import Path

import numpy as np
import pytest

from reproduce.dick2023 import table1

FAMILY = table1.FAMILIES[0]
SPREAD = [10.0 / n for n in table1.SIZES]


def verdict(adaptive: list[float], sd: float = 0.03) -> bool:
    slope = float(np.polyfit(np.log(table1.SIZES), np.log(adaptive), 1)[0])
    fits = {"subset": (-1.0, 0.03), "adaptive": (slope, sd)}
    means = {"subset": SPREAD, "adaptive": adaptive, "spread": SPREAD}
    return table1.judged(FAMILY, fits, means).passed


def test_the_verdict_fails_on_one_disaster_among_many_releases() -> None:
    assert verdict(SPREAD)
    assert not verdict([1e5 * SPREAD[0], *SPREAD[1:]], sd=0.74)
    assert not verdict([6 * each for each in SPREAD])
    assert not verdict([50 / n**1.2 for n in table1.SIZES])
    assert not verdict(SPREAD, sd=0.2)


@pytest.mark.slow
def test_the_stored_files_are_those_of_this_tree(tmp_path: Path, monkeypatch) -> None:
    stored = table1.OUT
    monkeypatch.setattr(table1, "OUT", tmp_path)
    assert all(each.passed for each in table1.run())
    for name in ("errors.csv", "slopes.csv", "README.md"):
        assert (tmp_path / name).read_text() == (stored / name).read_text(), name
