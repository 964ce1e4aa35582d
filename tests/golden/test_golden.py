"""Seeded releases are what they were: every draw and cost exactly, floats to nine digits."""

import json

import numpy as np
import pytest

from tests.golden.corpus import CORPUS, FLOATS, cases, observed, tables

DATA = tables()
KNOWN = {
    line["case"]: line for line in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
}
CASES = list(cases())


def test_every_row_of_the_registry_is_in_the_corpus() -> None:
    assert sorted(KNOWN) == sorted(case.name for case in CASES)


@pytest.mark.parametrize("table", DATA)
@pytest.mark.parametrize("statistic", dict.fromkeys(case.row.statistic for case in CASES))
def test_a_release_is_what_it_was(statistic, table) -> None:
    for case in CASES:
        if (case.row.statistic, case.table) == (statistic, table):
            release = case.released(DATA[table])
            _in_plain_lines(str(release), case.name)
            found, known = observed(case, release), dict(KNOWN[case.name])
            assert found["draws"] == known["draws"], case.name
            for key in FLOATS:
                if key in known:
                    _same(found.pop(key), known.pop(key), case.name)
            assert found == known, case.name


def _in_plain_lines(summary: str, name: str) -> None:
    """A summary fits on a screen, and needs no word of theory."""
    assert max(map(len, summary.splitlines())) <= 79, name
    assert "index" not in summary, name


def _same(found: object, known: object, name: str) -> None:
    """Floats follow from the draws by formulas whose last digits NumPy's versions move."""
    a, b = (np.array(each, dtype=object) for each in (found, known))
    assert a.shape == b.shape, name
    for x, y in zip(a.flat, b.flat, strict=True):
        assert x == y or x == pytest.approx(y, rel=1e-9), name
