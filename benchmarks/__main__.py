"""Accuracy and speed side by side: ``python -m benchmarks [PART] [--quick]``.

Parts are accuracy, ordinary, scale-free, people, weights, tpch, quantiles, several, intervals,
tails, real, population, population-quantiles, population-slopes, spread, locations, robust,
smooth, vectors, moments, slopes, many-columns, components, speed, growth, groups, waits,
small-groups, person-groups, steps, crosstab, describe, filters, bulk, ledger, local, shuffle,
records, peers, spark and all.

Prints tables, and every promise of the library with whether it was reached. A run that is not
quick writes its parts into docs/research/comparison.md and leaves the others there; that on records
has a page of its own. The part on Spark runs where PySpark is: ``.venv-engines/bin/python -m
benchmarks spark``, and that on TPC-H where its generator is (``pip install tpchgen-cli``).
"""

import argparse
import re
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks import (
    accuracy,
    bulk,
    components,
    crosstab,
    described,
    filters,
    groups,
    growth,
    intervals,
    ledger,
    local,
    locations,
    many_columns,
    moments,
    ordinary,
    peers,
    people,
    person_groups,
    population,
    population_quantiles,
    population_slopes,
    quantiles,
    real,
    records,
    robust,
    scale_free,
    several,
    shuffled,
    slopes,
    small_groups,
    smooth,
    spark,
    speed,
    spread,
    steps,
    tails,
    tpch,
    vectors,
    waits,
    weights,
)
from benchmarks.targets import HEADER, Target, table

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESEARCH = ROOT / "docs" / "research"
PAGE = RESEARCH / "comparison.md"
TITLE = """# Comparison with other methods and libraries

This page shows what was measured: error, coverage and speed beside other methods and libraries.
Times are ratios to a reference in the same process; errors are ratios to the best clipping in
hindsight. Accuracy figures come from seeded randomness and repeat exactly for the same NumPy; times
vary by about 10 %. `make bench` makes everything, the environment of the other libraries included.
"""

PARTS: dict[str, Callable[[bool], tuple[str, list[Target]]]] = {
    "accuracy": lambda quick: accuracy.accuracy(accuracy.QUICK if quick else accuracy.FULL),
    "ordinary": lambda quick: ordinary.ordinary(ordinary.QUICK if quick else ordinary.FULL),
    "scale-free": lambda quick: scale_free.scale_free(
        scale_free.QUICK if quick else scale_free.FULL
    ),
    "people": lambda quick: people.people(people.QUICK if quick else people.FULL),
    "weights": lambda quick: weights.weights(weights.QUICK if quick else weights.FULL),
    "tpch": lambda quick: tpch.tpch(tpch.QUICK if quick else tpch.FULL),
    "quantiles": lambda quick: quantiles.quantiles(quantiles.QUICK if quick else quantiles.FULL),
    "several": lambda quick: several.several(several.QUICK if quick else several.FULL),
    "intervals": lambda quick: intervals.intervals(intervals.QUICK if quick else intervals.FULL),
    "tails": lambda quick: tails.tails(tails.QUICK if quick else tails.FULL),
    "real": lambda quick: real.real(real.QUICK if quick else real.FULL),
    "population": lambda quick: population.population(
        population.QUICK if quick else population.FULL
    ),
    "population-quantiles": lambda quick: population_quantiles.population_quantiles(
        population_quantiles.QUICK if quick else population_quantiles.FULL
    ),
    "population-slopes": lambda quick: population_slopes.population_slopes(
        population_slopes.QUICK if quick else population_slopes.FULL
    ),
    "spread": lambda quick: spread.spread(spread.QUICK if quick else spread.FULL),
    "locations": lambda quick: locations.locations(locations.QUICK if quick else locations.FULL),
    "steps": lambda quick: steps.steps(steps.QUICK if quick else steps.FULL),
    "robust": lambda quick: robust.robust(robust.QUICK if quick else robust.FULL),
    "smooth": lambda quick: smooth.smooth(smooth.QUICK if quick else smooth.FULL),
    "vectors": lambda quick: vectors.vectors(vectors.QUICK if quick else vectors.FULL),
    "moments": lambda quick: moments.moments(moments.QUICK if quick else moments.FULL),
    "slopes": lambda quick: slopes.slopes(slopes.QUICK if quick else slopes.FULL),
    "many-columns": lambda quick: many_columns.many_columns(
        many_columns.QUICK if quick else many_columns.FULL
    ),
    "components": lambda quick: components.components(
        components.QUICK if quick else components.FULL
    ),
    "speed": lambda quick: speed.speed(speed.QUICK if quick else speed.FULL),
    "growth": lambda quick: growth.growth(rows=10**6 if quick else 10**8),
    "groups": lambda quick: groups.groups(quick=quick),
    "small-groups": lambda quick: small_groups.small_groups(
        small_groups.QUICK if quick else small_groups.FULL
    ),
    "person-groups": lambda quick: person_groups.person_groups(
        person_groups.QUICK if quick else person_groups.FULL
    ),
    "waits": lambda quick: waits.waits(quick=quick),
    "crosstab": lambda quick: crosstab.crosstab(crosstab.QUICK if quick else crosstab.FULL),
    "describe": lambda quick: described.described(described.QUICK if quick else described.FULL),
    "filters": lambda quick: filters.filters(filters.QUICK if quick else filters.FULL),
    "bulk": lambda quick: bulk.bulk(quick=quick),
    "ledger": lambda quick: ledger.ledger(ledger.QUICK if quick else ledger.FULL),
    "local": lambda quick: local.local(local.QUICK if quick else local.FULL),
    "shuffle": lambda quick: shuffled.shuffled(shuffled.QUICK if quick else shuffled.FULL),
    "records": records.part,
    "peers": lambda quick: (peers.peers(quick=quick), []),
    "spark": lambda quick: spark.spark(quick=quick),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("part", nargs="?", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--quick", action="store_true", help="small sizes, few releases, no page")
    records.add_options(parser.add_argument_group("records"))
    args = parser.parse_args()
    chosen = records.Options.of(args)
    parts = PARTS | {"records": partial(records.part, options=chosen)}
    there = {"spark": find_spec("pyspark") is not None, "tpch": tpch.available()}
    skipped = [name for name, found in there.items() if not found]
    everything = [name for name in PARTS if name not in skipped]
    for name in everything if args.part == "all" else (args.part,):
        start = time.monotonic()
        text, targets = parts[name](args.quick)
        if targets:
            text += f"\n\n### Targets: {name}\n\n{table(HEADER, [t.row() for t in targets])}"
        print(f"{text}\n\n({name}: {time.monotonic() - start:.0f} s)\n", flush=True)
        if not (args.quick or args.law):
            _write(name, text, chosen.words if name == "records" else "")


def _write(name: str, text: str, options: str) -> None:
    """Put a part into its place on the page, or on one of its own."""
    made = f"\n{text}\n\nMade by `python -m benchmarks {name}{options}`.\n"
    if name == "records":
        (RESEARCH / "records.md").write_text(made.lstrip().replace("## ", "# ", 1), "utf-8")
        return
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found = dict(re.findall(r"<!-- part ([\w-]+) -->\n(.*?)<!-- end -->\n", page, flags=re.DOTALL))
    found[name] = f"{made}\n"
    parts = [
        f"<!-- part {part} -->\n{found[part]}<!-- end -->\n" for part in PARTS if part in found
    ]
    PAGE.write_text("\n".join([TITLE, *parts]), encoding="utf-8")
    if name == "peers":
        _write_readme(found[name])
    print(f"wrote the part {name} of {PAGE}\n", flush=True)


def _write_readme(part: str) -> None:
    """Put the table of the part into the README too."""
    rows = "\n".join(line for line in part.splitlines() if line.startswith("|"))
    text = README.read_text(encoding="utf-8")
    block = f"<!-- peers -->\n\n{rows}\n\n<!-- end -->"
    text = re.sub(r"<!-- peers -->.*?<!-- end -->", lambda _: block, text, flags=re.DOTALL)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
