"""What a paper claims, what we see, and a number that decides between pass and fail."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

STYLE = {
    "figure.figsize": (6.4, 4.2),
    "figure.dpi": 140,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "font.size": 10,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim of a paper."""

    figure: str
    claim: str
    seen: str
    criterion: str
    passed: bool

    def __str__(self) -> str:
        return f"{'PASS' if self.passed else 'FAIL'} {self.figure}: {self.claim} -- {self.seen}"


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table; floats with six digits, so that reruns do not differ in the last bits."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows)


def write_readme(path: Path, title: str, notes: str, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts as a page."""
    lines = [f"# {title}", "", notes.strip(), ""]
    for i, v in enumerate(verdicts):
        lines += [f"## {v.figure}: {'pass' if v.passed else 'FAIL'}", ""]
        if v.figure not in {earlier.figure for earlier in verdicts[:i]}:
            lines += [f"![{v.figure}]({v.figure.lower().replace(' ', '')}.png)", ""]
        lines += [
            f"- **The paper claims:** {v.claim}",
            f"- **We see:** {v.seen}",
            f"- **Criterion:** {v.criterion}",
            "",
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
