"""Accuracy and speed side by side: ``python -m benchmarks [accuracy|speed|peers|all] [--quick]``.

Prints tables, and every promise of the library with whether it was reached. A full run of all
parts writes docs/comparison.md; so does any run with ``--write``.
"""

import argparse
from pathlib import Path

from benchmarks import accuracy, peers, speed
from benchmarks.targets import HEADER, Target, table

PAGE = Path(__file__).parent.parent / "docs" / "comparison.md"
PARTS = ("accuracy", "speed", "peers")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("part", nargs="?", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--quick", action="store_true", help="small sizes, few releases")
    parser.add_argument("--write", action="store_true", help="write docs/comparison.md")
    args = parser.parse_args()
    chosen = PARTS if args.part == "all" else (args.part,)
    sections: list[str] = []
    targets: list[Target] = []

    if "accuracy" in chosen:
        found, reached = accuracy.accuracy(accuracy.QUICK if args.quick else accuracy.FULL)
        sections += found
        targets += reached
        print("\n\n".join(found), flush=True)
    if "speed" in chosen:
        text, reached = speed.speed(speed.QUICK if args.quick else speed.FULL)
        sections.append(text)
        targets += reached
        print(f"\n{text}", flush=True)
    if "peers" in chosen:
        text = peers.peers(quick=args.quick)
        sections.append(text)
        print(f"\n{text}", flush=True)

    promises = f"## Targets\n\n{table(HEADER, [t.row() for t in targets])}" if targets else ""
    print(f"\n{promises}")
    if args.write or (args.part == "all" and not args.quick):
        PAGE.write_text(_page(args, [promises, *sections]), encoding="utf-8")
        print(f"\nwrote {PAGE}")


def _page(args: argparse.Namespace, sections: list[str]) -> str:
    command = " ".join(["python -m benchmarks", args.part, *(["--quick"] if args.quick else [])])
    header = f"""# Comparison with other methods and libraries

Made by `{command}` (`make bench` also makes the environment of the other libraries). Times are
ratios to a reference in the same process; errors are ratios to the best clipping in hindsight.
Accuracy figures come from seeded randomness and repeat exactly; times vary by about 10 %."""
    return "\n\n".join([header, *filter(None, sections)]) + "\n"


if __name__ == "__main__":
    main()
