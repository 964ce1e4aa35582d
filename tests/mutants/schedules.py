"""A number that was not drawn where only noisy ones may stand: in a schedule, or in what is shown.

No audit of a few records notices, and the noise is right. The same outcomes on another table are
followed by other draws.
"""

from tests.mutants.fault import Fault

_LARGE = "laws/test_large_tables.py"

FAULTS = tuple(
    Fault(name, wrong, place, old, new, _LARGE)
    for name, wrong, place, old, new in (
        (
            "true-count-tops-wider",
            "The end of a wider range is drawn at a strength that follows from the true number.",
            "_find_top",
            "WIDER / (seen * float",
            "WIDER / (max(beyond(), 1) * float",
        ),
        (
            "true-count-octave",
            "The octave of a range is drawn at a strength that follows from the true number.",
            "_find_top",
            "_SURE_NATS / sure, ",
            "_SURE_NATS / max(sum(counts) * float(split.scale), 1.0), ",
        ),
        (
            "true-count-person-pool",
            "As many persons may be beyond a limit of all groups as follows from the true number.",
            "find_person_pool",
            "persons_beyond(split, n0, ",
            "persons_beyond(split, max(n0, counted.count // 2), ",
        ),
        (
            "true-count-pool",
            "What all groups look for together follows from the true number of records.",
            "find_pool",
            "expected = expected_records(split, n0)",
            "expected = expected_records(split, counted.count)",
        ),
        (
            "true-count-pool-of-sums",
            "As many persons may be beyond the limit of pooled sums as the true number says.",
            "find_sums",
            "persons_beyond(split, n0, ",
            "persons_beyond(split, cells.count, ",
        ),
        (
            "true-count-vectors",
            "The rounds of a mean vector are planned by the true number of rows.",
            "adaptive_mean_vector",
            "VectorSchedule.of(here.split, n0, ",
            "VectorSchedule.of(here.split, norms.count, ",
        ),
        (
            "true-count-scale",
            "The scale of a ratio's numbers is drawn at a strength that follows from their number.",
            "ratio._scale",
            "expected_records(split, number)",
            "expected_records(split, sum(counts))",
        ),
        (
            "true-count-limit-of-rows",
            "How many rows of a person count is drawn at a strength of the true number of persons.",
            "_find_limit",
            "_SURE / (target * scale)",
            "_SURE / (max(sizes.count, 1) * scale)",
        ),
        (
            "true-count-location",
            "A location is planned by the true number of records.",
            "location.location",
            "lattice, split, n0, bounded",
            "lattice, split, counts.count, bounded",
        ),
        (
            "true-count-extreme",
            "A maximum shows a true number of records.",
            "extreme._point",
            "counted=found.counted,",
            "counted=replace(found.counted, value=Fraction(len(values))),",
        ),
        (
            "true-count-squares",
            "The squares of a population's mean get a part of the budget by the true number.",
            "population.draw_squares",
            "part_for_squares(here.split, n0)",
            "part_for_squares(here.split, count)",
        ),
        (
            "true-count-persons",
            "How many persons have how many rows is drawn at a strength of their true number.",
            "by_size",
            "falling(split, number)",
            "falling(split, sum(counts))",
        ),
        (
            "true-count-outside",
            "Records outside of bounds are counted at a strength that follows from their number.",
            "count_outside",
            "16 / expected_records(here.split, n0)",
            "16 / expected_records(here.split, elsewhere)",
        ),
        (
            "true-count-cells",
            "Which cells around quantiles are counted follows from the true number of records.",
            "quantiles._count_cells",
            "places_of(drawn.points, qs, drawn.count)",
            "places_of(drawn.points, qs, drawn.windows.count)",
        ),
    )
)
