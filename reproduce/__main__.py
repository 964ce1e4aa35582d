"""Redraw every figure and table: ``python -m reproduce [paper/figure ...]``.

Each writes CSV files, pictures and a README with one verdict a claim to ``reproduce/<paper>/out``.
The exit status is the number of claims that were not confirmed.
"""

import argparse
import sys
from importlib import import_module

FIGURES = (
    "kulesza2023/figure2",
    "dick2023/table1",
    "dick2023/appendixf",
    "asi2020/propositions",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="figure", help=", ".join(FIGURES))
    chosen = parser.parse_args().figures or FIGURES
    unknown = sorted(set(chosen) - set(FIGURES))
    if unknown:
        parser.error(f"unknown figure {unknown[0]!r}; there are {', '.join(FIGURES)}")
    failed = 0
    for name in chosen:
        print(name)
        for verdict in import_module(f"reproduce.{name.replace('/', '.')}").run():
            print(f"  {verdict}")
            failed += not verdict.passed
    return failed


if __name__ == "__main__":
    sys.exit(main())
