"""Faults of counts of very many keys."""

from tests.mutants.fault import Fault

_TESTS = "api/tables/test_bulk.py"
_AUDIT = "audit/test_bulk.py"
_KEYS = "sources/test_key_counts.py"

FAULTS = (
    Fault(
        "bulk-unit",
        "Counts of many keys have the noise of a unit of one row, whatever the unit.",
        "bulk.count_to",
        'row_costs({"count": query}, guard.unit)["count"]',
        "query.event",
        _TESTS,
    ),
    Fault(
        "bulk-not-charged",
        "Counts of many keys are drawn without a charge.",
        "bulk.count_to",
        "pending.charge()",
        "None",
        _TESTS,
    ),
    Fault(
        "bulk-keys-not-charged",
        "The draw of many keys is not charged, only their counts.",
        "bulk.count_to",
        "total + selection.cost(guard.kind)",
        "total",
        _TESTS,
    ),
    Fault(
        "bulk-keys-of-a-row",
        "The keys are drawn with the (ε, δ) of the whole unit for each of its rows.",
        "bulk.count_to",
        "guard.unit.per_row(selection)",
        "selection",
        _TESTS,
    ),
    Fault(
        "bulk-second-draw",
        "A process that lost the race publishes its own draw on the other's charge.",
        "_published",
        "kept.digest != release.digest",
        "kept.rows != release.rows",
        _TESTS,
    ),
    Fault(
        "bulk-order",
        "Drawn keys come in the order in which they were found.",
        "in_order",
        "table.take(order.slice(start, BLOCK))",
        "table.slice(start, BLOCK)",
        f"{_AUDIT} {_TESTS}",
    ),
    Fault(
        "bulk-exact-counts",
        "Exact counts are released.",
        "Draws.noisy",
        "self.noise.added_to(counts[at : at + _DRAWN], self.entropy)",
        "counts[at : at + _DRAWN]",
        _TESTS,
    ),
    Fault(
        "bulk-key-read-twice",
        "A key that comes twice has two draws for one charge.",
        "check_read",
        "self._read != len(self._keys) or not",
        "not",
        _KEYS,
    ),
    Fault(
        "bulk-sum-wraps",
        "The sum of huge counts is taken modulo 2^64.",
        "key_counts._sums",
        "np.minimum(high, LARGEST >> _HALF)",
        "high",
        _KEYS,
    ),
    Fault(
        "bulk-other-keys",
        "Rows of a key that is not listed count for the next one.",
        "GivenKeys._places",
        "self._keys[places] == ordered",
        "self._keys[places] >= ordered",
        _KEYS,
    ),
    Fault(
        "counted-as-rows",
        "A table of counts is read as a table of rows, each of which is protected.",
        "CountedTable.check",
        "raise InvalidArgument(_ONLY)",
        "self.inner.check(column)",
        _TESTS,
    ),
    Fault(
        "bulk-noise-cut",
        "Noise is cut before it is added: the largest value shows the count.",
        "added_to",
        "-_FARTHEST, _FARTHEST",
        "-_WIDEST + 1, _WIDEST - 1",
        "mechanisms/test_additive.py",
    ),
    Fault(
        "keep-many",
        "A key is shown, of many, as often as one with a row more.",
        "KeepCurve.toss_each",
        "np.minimum(counts, self.sure)",
        "np.minimum(counts + 1, self.sure)",
        f"mechanisms/test_partition_selection.py {_TESTS}",
    ),
)
