"""Sums and counts of groups of persons: what all groups find, and all their draws, for one person.

The exact joint loss of both stages, on small tables with and without a person who has rows in
several groups. The records are made by the readers of a real run.
"""

from dataclasses import replace
from functools import partial

import pytest

from modicum import audit
from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.event import event_of
from modicum.runtime.pools import before_groups
from modicum.statistics.groups import pooled_sums
from modicum.statistics.groups.pooled_sums import SumsPool
from tests.audit.test_pooled_groups import follow, together
from tests.audit.test_pooled_persons import (
    FAR,
    GROUPS,
    KEYS,
    MINE,
    NARROW,
    ROWS,
    UNIT,
    InGroups,
    frame_of,
    pairs,
    readers,
)

ASKED = {
    "count": ask.count,
    "count of values": partial(ask.count, "x"),
    "sum": partial(ask.sum, "x", **NARROW),
}
# Few persons and many, limits below and above what a person has, and so the norms beyond them.
VALUES = {
    "all groups: persons": ((1,), (5000,)),
    "all groups: most of a count": ((1,), (6,)),
    "all groups: most of a sum": ((2,), (12,)),
    "all groups: furthest": ((0,), (6,)),
}
FORCED = [
    {
        "all groups: persons": (n,),
        "all groups: most of a count": (d,),
        "all groups: most of a sum": (t,),
        "all groups: furthest": (f,),
    }
    for n, d, t, f in ((60, 0, 2, 0), (5000, 4, 12, 4), (5000, 9, 20, 0))
]


@pytest.fixture(params=ASKED)
def kind(request) -> str:
    return request.param


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_both_stages_keep_the_claim_for_a_person(monkeypatch, kind, cost) -> None:
    monkeypatch.setattr("modicum.audit.trail.Remembered", InGroups)
    query = together(ASKED[kind](**cost).for_unit(UNIT))
    report = audit.check(query, list(pairs()), values=VALUES, widths=(0,) + (1,) * 10)
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)
    assert report.drawn == report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    used = {step.label: step.used for step in report.steps}
    most = "most of a sum" if kind == "sum" else "most of a count"
    for label in ("persons", most, "kept", "furthest", "beyond the limit"):
        assert used[f"all groups: {label}"] > 0.75, label
    assert used["total"] > 0.85


def test_a_range_of_very_many_norms_keeps_the_claim(monkeypatch) -> None:
    monkeypatch.setattr("modicum.audit.trail.Remembered", InGroups)
    query = together(ask.sum("x", within=(-1e6, 1e6), epsilon=1).for_unit(UNIT))
    table = [("a", 8.0, "z"), ("b", -8.0, "z")]
    both = [(frame_of(table), frame_of([*table, ("a", x, "me")])) for x in (1e6, 2.0**-20)]
    report = audit.check(query, both, values=VALUES, widths=(0,) + (1,) * 10)
    assert report.leak is None
    assert report.worst <= 1 + 1e-9
    used = {step.label: step.used for step in report.steps}
    assert used["all groups: size"] > 0.9


def joint_loss(query, rows, mine, seed: str) -> float:
    """The largest log ratio of what all groups found and of all their draws, on some paths."""
    event, entropy = event_of(query.budget), SeededEntropy(seed)
    both = readers(rows), readers([*rows, *mine])
    first, losses = before_groups(query, GROUPS), []
    for forced in FORCED:
        pair = (both[0][0], both[1][0])
        loss, spent, pool = follow(first, event, pair, forced, entropy)
        of_group = replace(query, begin=partial(query.pooling().begin, pool))
        for pair in zip(both[0][1], both[1][1], strict=True):
            loss += follow(of_group, event.part(1 - spent), pair, FAR, entropy)[0]
        losses.append(abs(loss))
    return max(losses)


RANGES = {  # ends above zero, below it and not multiples of the step, and with zero near one
    "above": ((4, 12), 1),
    "below": ((-13.5, -3.5), 2),
    "near": ((-7, 2), 1),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_beside_zero(name) -> None:
    """A weighted sum may be nearer to zero than any value."""
    within, step = RANGES[name]
    query = ask.sum("x", within=within, step=step, epsilon=1).for_unit(UNIT)
    mine = [(g, x, "me") for g in KEYS for x in within]
    losses = [
        joint_loss(query, [], mine[i::j], f"{name} {i} {j}") for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    assert 0.3 < max(losses) <= 1 + 1e-9


@pytest.mark.parametrize("rows", ROWS, ids=["nobody", "two others"])
def test_a_person_in_all_groups_costs_epsilon_over_both_stages(kind, rows) -> None:
    query = ASKED[kind](epsilon=1).for_unit(UNIT)
    losses = [joint_loss(query, rows, mine, f"{kind} {len(rows)}") for mine in MINE]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.3
    assert joint_loss(query, rows, [("other", 8.0, "me")], "other") == 0


def test_groups_that_bound_a_person_one_by_one_are_caught(monkeypatch, kind) -> None:
    """The control: each record within the limit, but not the vector of all groups."""
    real = SumsPool.ask

    def apart(pool, column):
        found = real(pool, column)
        far = replace(found.rule.across, limits=(1e9,))
        return replace(found, rule=replace(found.rule, across=far))

    monkeypatch.setattr(SumsPool, "ask", apart)
    assert joint_loss(ASKED[kind](epsilon=1).for_unit(UNIT), [], MINE[0], "apart") > 1.2


def test_a_staircase_for_each_group_is_caught(monkeypatch) -> None:
    """The control: it drops by the whole ε for any move, and all groups move a little."""

    def stairs(values, share, *, sensitivity):
        return add_to_one(values[0], share, sensitivity=sensitivity)

    query = ask.count(epsilon=4).for_unit(UNIT)
    assert joint_loss(query, [], MINE[0], "stairs") <= 4 + 1e-9
    monkeypatch.setattr(pooled_sums, "add_noise", stairs)
    far = range(0, 200, 5)
    losses = [_loss_of_totals(query, {**FORCED[1], "total": (each,)}, MINE[0]) for each in far]
    assert max(losses) > 4


def _loss_of_totals(query, forced, mine) -> float:
    """Log ratio of both stages where every group draws the same."""
    event, entropy = event_of(query.budget), SeededEntropy("totals")
    both = readers([]), readers(mine)
    pair = (both[0][0], both[1][0])
    loss, spent, pool = follow(before_groups(query, GROUPS), event, pair, forced, entropy)
    of_group = replace(query, begin=partial(query.pooling().begin, pool))
    for pair in zip(both[0][1], both[1][1], strict=True):
        loss += follow(of_group, event.part(1 - spent), pair, forced, entropy)[0]
    return abs(loss)
