"""Faults of whole tables: what a person may change, and what intervals of adjusted sums cover."""

from tests.mutants.fault import Fault

_MARGINS = "api/tables/test_margins.py"
_CROSSTAB = "api/tables/test_crosstab.py"
_DISTINCT = "api/tables/test_distinct.py"

FAULTS = (
    Fault(
        "crosstab-noise",
        "The noise of cells and margins is 30 % too small.",
        "add_noise_to_sums",
        "epsilon=share.pure)",
        "epsilon=share.pure * Fraction(10, 7))",
        f"{_MARGINS} {_CROSSTAB}",
    ),
    Fault(
        "crosstab-cells-of-a-person",
        "In pure ε a person pays for one cell, whatever the number of theirs.",
        "add_noise_to_sums",
        "l1=records * size",
        "l1=size",
        f"{_MARGINS} {_CROSSTAB}",
    ),
    Fault(
        "crosstab-sums-of-a-person",
        "In ρ the cells of a person count as if no two were in one sum.",
        "add_noise_to_sums",
        "min(records, widest) * records",
        "records",
        f"{_MARGINS} {_CROSSTAB}",
    ),
    Fault(
        "crosstab-size-of-a-record",
        "A clipped value counts as if it were at most 1 step.",
        "CellDraws.summed",
        "measured = yield from self._measured(cells, rest, size)",
        "measured = yield from self._measured(cells, rest, 1)",
        _CROSSTAB,
    ),
    Fault(
        "crosstab-true-total",
        "What is said of the tail follows from the true sum of the cells.",
        "CellDraws.summed",
        "received = (sum(measured[0].values),)",
        "received = (sum(cells),)",
        _CROSSTAB,
    ),
    Fault(
        "crosstab-records-in-bounds",
        "The bounds of sums are drawn as if a person had one record.",
        "CellDraws.summed",
        "query.begin(event.per_record(self.records))",
        "query.begin(event)",
        _CROSSTAB,
    ),
    Fault(
        "crosstab-narrow-intervals",
        "Intervals of adjusted sums are 30 % too narrow.",
        "margins._bound",
        "return high + blur",
        "return 0.7 * (high + blur)",
        _MARGINS,
    ),
    Fault(
        "crosstab-weights",
        "The law of an adjusted sum forgets the noise of the measured margins.",
        "law",
        "*zip(self._noises, of_margins, strict=True)",
        "*zip((), (), strict=True)",
        _MARGINS,
    ),
    Fault(
        "distinct-labels-of-a-person",
        "A person with many labels pays for one.",
        "bounded_labels",
        "return unit, unit.rows * unit.groups",
        "return unit, 1 * 1",
        _DISTINCT,
    ),
)
