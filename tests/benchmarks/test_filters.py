"""The comparison of filters asks every engine the same, and they answer alike."""

from pathlib import Path

import pytest

from benchmarks.filters import Effort, engines, filters, ours, theirs


def test_engines_answer_alike() -> None:
    text, targets = filters(Effort(20_000, 1))
    assert [each.state for each in targets[-3:]] == ["reached"] * 3
    assert len(targets) == 13
    assert "| DuckDB" in text


def test_a_release_is_of_what_the_engine_chose(tmp_path: Path) -> None:
    for engine in engines(20_000, tmp_path):
        for made in (False, True):
            assert ours(engine, made) == pytest.approx(theirs(engine, made), rel=0.1)
