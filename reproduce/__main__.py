"""Redraw every figure and table: ``python -m reproduce [paper | paper/figure ...] [--quick]``.

Each writes CSV files, pictures and a README with one verdict a claim to ``reproduce/<paper>/out``.
The exit status is the number of claims that were not confirmed. With ``--quick`` the figures of
huang2021 make one trial, print their tables and write nothing.
"""

import argparse
import sys
from importlib import import_module

HUANG = tuple(f"huang2021/figure{number}" for number in range(1, 8))
FIGURES = (
    "kulesza2023/figure2",
    "dick2023/table1",
    "dick2023/appendixf",
    "asi2020/propositions",
    *HUANG,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="figure", help=", ".join(FIGURES))
    parser.add_argument("--quick", action="store_true", help="one trial; figures of huang2021")
    arguments = parser.parse_args()
    chosen = []
    for asked in arguments.figures or FIGURES:
        found = [name for name in FIGURES if asked in (name, name.partition("/")[0])]
        if not found:
            parser.error(f"unknown figure {asked!r}; there are {', '.join(FIGURES)}")
        chosen += found
    if arguments.quick and set(chosen) - set(HUANG):
        parser.error("only the figures of huang2021 have a quick form")
    options = {"quick": True} if arguments.quick else {}
    failed = 0
    for name in chosen:
        print(name)
        for verdict in import_module(f"reproduce.{name.replace('/', '.')}").run(**options):
            print(f"  {verdict}")
            failed += not verdict.passed
    return failed


if __name__ == "__main__":
    sys.exit(main())
