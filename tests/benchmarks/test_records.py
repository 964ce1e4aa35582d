"""The guard of records judges releases as its page says, whoever answers."""

import math

import pytest
from numpy.random import default_rng

from benchmarks import records
from benchmarks.outcomes import Seen
from benchmarks.record_cells import SHAPES, Cell, Found, best_of, half_of, measured
from benchmarks.records import Bar, Judged, Options, bars


def found(*codes: str, error: float = 1.0, half: float = 2.0, name: str = "a") -> Found:
    seen = [Seen(error, error - half, error + half, code) for code in codes]
    return Found.of(name, seen, [0.0] * len(codes))


def test_a_silent_miss_says_ok_and_is_three_half_widths_off() -> None:
    assert found("ok", "ok", error=7).silent == 2
    assert found("ok", "heavy_tail", error=5).silent == 0
    missed = found("ok", "heavy_tail", error=7)
    assert (missed.silent, missed.noticed, missed.held, missed.usable) == (1, 0.5, 0.0, 1.0)


def test_figures_are_of_what_can_be_used() -> None:
    mixed = [Seen(1, 0, 2, "ok"), Seen(math.nan, -9, 9, "few_records")]
    some = Found.of("a", mixed, [0.0, 0.0])
    assert (some.error, some.half, some.width, some.usable) == (1, 1, 1, 0.5)
    none = Found.of("a", mixed[1:], [0.0])
    assert none.error == math.inf
    assert math.isnan(none.width)


def judged(errors: dict[int, float], *, pooled: bool, earlier: dict[str, Found]) -> Judged:
    cells = {n: Cell("mean", "uniform", n) for n in errors}
    measured = {cells[n].name: found("ok", error=each) for n, each in errors.items()}
    figure = lambda now, then: now.error / (then.error if then else 1)  # noqa: E731
    bar = Bar("a", "b", [*cells.values()], figure, 1.05, pooled=pooled)
    return bar.judged(measured, earlier)


def test_a_bar_is_kept_by_all_of_its_cells_or_by_their_mean() -> None:
    each = judged({10: 1.0, 20: 1.1}, pooled=False, earlier={})
    assert (each.reached, each.cells, each.kept) == (1, 2, False)
    assert each.worst == "1.1: mean of 20 uniform"
    then = {"mean of 20 uniform": found("ok", error=1.1)}
    assert judged({10: 1.0, 20: 1.1}, pooled=False, earlier=then).kept
    assert judged({10: 1.0, 20: 1.0}, pooled=True, earlier={}).cells == 2
    assert not judged({}, pooled=False, earlier={}).kept


def test_hindsight_has_the_noise_of_the_staircase_from_two_on() -> None:
    x = SHAPES["uniform"](default_rng(0), 1000)
    low, high = (best_of("sum", x, epsilon) for epsilon in (1, 8))
    assert low / high == pytest.approx(2 * math.sinh(4), rel=0.01)


def test_a_law_answers_the_same_columns() -> None:
    def law(x, epsilon, within):
        assert (len(x), epsilon, within) == (100, 0.5, (-10.0, 10.0))
        return float(x.mean()), 0.0, 1.0, "ok"

    exact = measured(Cell("mean", "uniform", 100, 0.5, given=10), 3, law)
    assert (exact.error, exact.held, exact.releases) == (0.0, 1.0, 3)


def test_every_promise_has_cells_and_a_quick_run_too() -> None:
    assert all(bar.cells for effort in (records.QUICK, records.FULL) for bar in bars(effort))
    assert {half_of(package) for package in ("AER", "DAAG", "MASS", "survival")} == {
        "choose",
        "check",
    }
    assert Options(most=1000, releases=2).applied(records.QUICK).sizes == (100, 500, 1000)
