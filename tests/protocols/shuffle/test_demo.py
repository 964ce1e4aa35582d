"""The demo: every message crosses a process boundary; some workers die, some are late."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DEMO = Path(__file__).parents[3] / "examples" / "demo_shuffle.py"
N = 100_000


def run(*arguments: str) -> dict:
    done = subprocess.run(
        [sys.executable, str(DEMO), "--json", "--clients", str(N), "--patience", "40", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout)


def off(found: dict) -> float:
    """Distance from the truth in standard errors."""
    error = np.abs(np.array(found["value"]) - found["truth"]).max()
    return float(error / found["standard_error"])


@pytest.mark.slow
def test_all_workers_answer() -> None:
    found = run()
    assert found["sum"]["accepted"] == [N]
    assert found["vector"]["accepted"] == [N] * 3
    # A round in which not everybody answers is closed when nobody came for a while: some are late.
    assert 80_000 < sum(found["mean"]["accepted"]) <= N
    assert max(off(found["sum"]), off(found["vector"])) < 8
    assert abs(found["mean"]["value"][0] - found["mean"]["truth"][0]) < 0.01  # clipping included
    assert found["sum"]["bytes"] == N * found["sum"]["messages"][0] * 35
    singles, shares = 2 * N * 22, N * found["vector"]["messages"][2] * 37
    assert found["vector"]["bytes"] == singles + shares


@pytest.mark.slow
def test_a_killed_and_a_slow_worker_are_left_out() -> None:
    found = run("--kill", "--slow")
    for kind in ("sum", "vector"):
        assert all(40_000 <= accepted < 90_000 for accepted in found[kind]["accepted"])
    assert 30_000 < sum(found["mean"]["accepted"]) < 90_000
    # Those who are missing have the same law: sampling adds to the error.
    for kind, spread in (("sum", 0.07), ("mean", 0.07), ("vector", 4.0)):
        error = np.abs(np.array(found[kind]["value"]) - found[kind]["truth"]).max()
        assert error < 8 * (found[kind]["standard_error"] + spread / 200)
