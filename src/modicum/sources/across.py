"""A person's records in all groups, as one vector: its norm, or the vector scaled down to a limit.

Both are functions of that person's rows alone, whatever their order. docs/research/proofs/pooled.md
proves that a scaled vector is no longer than its limit, in the integers that are added up
[pooled.10].
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.sources.base import Floats
from modicum.sources.persons import PersonRecords
from modicum.summaries.base import Integers, RecordRule

_LESS = 1 - 2.0**-20
"""What the roundings of a norm of up to 2^30 numbers, and of the factor, leave of a limit."""
_FURTHEST = 2.0**400  # of a quotient whose square has a place


def norms_of_persons(x: Floats, persons: Integers, power: int) -> Floats:
    """Return the norm of each person's numbers, NaN if all are missing.

    They are added up in the order of their size, so that the last bit does not depend on that of
    rows.

    Examples
    --------
    >>> norms_of_persons(np.array([3.0, -4.0, 1.0, np.nan]), np.array([0, 0, 1, 2]), 2)
    array([ 5.,  1., nan])
    """
    number, there = int(persons.max(initial=-1)) + 1, ~np.isnan(x)
    sizes, whose = np.abs(x[there]), persons[there]
    order = np.lexsort((sizes, whose))
    sizes, whose = sizes[order], whose[order]
    found: Floats = np.bincount(whose, weights=sizes**power, minlength=number).astype(np.float64)
    if power == 2:
        found = np.sqrt(found)
    found[np.bincount(whose, minlength=number) == 0] = np.nan
    return found


def scaled_across(
    records: Floats, bounded: Sequence[Floats], persons: Integers, rule: RecordRule, step: float
) -> Floats:
    """Return records scaled down, rounded towards zero to multiples of a step.

    One factor of each person brings the norm of each ``bounded`` kind within its limit. They are
    taken of quotients by the limit: what is lost there below the smallest float is nothing beside
    it.
    """
    factors = functools.reduce(np.minimum, _factors(bounded, persons, rule))
    scaled: Floats = np.trunc(records * factors[persons] / step) * step
    return scaled


def far_across(
    sums: Floats, numbers: Floats, persons: Integers, rule: RecordRule, step: float
) -> Floats:
    """Return where persons are far away, each at most the limit on numbers long [pooled.19].

    That is the direction of a person's sums, and as long as the part of that limit that they lose
    as their sums are beyond their own; rounded towards zero to multiples of a step.
    """
    assert rule.across is not None
    assert rule.across.limits is not None
    of_sums, of_numbers = _factors((sums, numbers), persons, rule)
    lost = 1 - np.minimum(of_sums / of_numbers, 1.0)
    sizes = np.minimum(np.abs(sums / rule.across.limits[0]), _FURTHEST)
    norms = norms_of_persons(sizes, persons, rule.across.power)
    lengths = lost * (_LESS * rule.across.limits[1]) / np.maximum(norms, _LESS)
    far: Floats = np.trunc(sizes * lengths[persons] / step) * step
    return far


def _factors(bounded: Sequence[Floats], persons: Integers, rule: RecordRule) -> list[Floats]:
    """Return what brings the norms of each person's numbers of each kind within its limit."""
    assert rule.across is not None
    assert rule.across.limits is not None
    return [
        _LESS / np.maximum(norms_of_persons(each / limit, persons, rule.across.power), _LESS)
        for each, limit in zip(bounded, rule.across.limits, strict=True)
    ]


def across_groups(
    totals: PersonRecords, rule: RecordRule, lattice: Lattice | None, persons: Integers
) -> Floats:
    """Return norms of persons, or the scaled record of each pair of a person and a group."""
    assert rule.across is not None
    assert lattice is not None
    pairs, step = len(persons), lattice.step
    alone = replace(rule, across=None)
    if rule.across.limits is None:
        steps = totals.records(alone, pairs) / step
        return norms_of_persons(steps, persons, rule.across.power) * step
    records = totals.records(alone, pairs)
    if len(rule.across.limits) == 1:
        return scaled_across(records, (records,), persons, rule, step)
    sums, counts = (totals.records(replace(alone, kind=kind), pairs) for kind in ("sum", "count"))
    if rule.across.far:
        return far_across(sums, counts, persons, rule, step)
    return scaled_across(records, (sums, counts), persons, rule, step)
