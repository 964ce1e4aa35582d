"""The error of a mean against n ε beside other libraries, as ``benchmarks/curve.py`` printed."""

import csv
from collections import defaultdict
from pathlib import Path

from drawing import WIDTH, Shade, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

MEASURED = Path(__file__).parents[2] / "benchmarks/curve.csv"
NAMES = {
    "modicum": "modicum",
    "pydp_auto": "PyDP, no bounds",
    "opendp_tails": "OpenDP, quantiles",
    "opendp_wide": "OpenDP, ±1e9",
    "diffprivlib_wide": "diffprivlib, ±1e9",
}


def curves() -> dict[str, list[tuple[float, float]]]:
    found = defaultdict(list)
    with MEASURED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["median_error"]:
                found[row["library"]].append((float(row["n"]), 100 * float(row["median_error"])))
    return found


def draw(shade: Shade) -> Figure:
    figure, axes = plt.subplots(figsize=(WIDTH, 3.3))
    figure.subplots_adjust(left=0.13, right=0.68, top=0.91, bottom=0.14)
    measured = curves()
    ends = sorted((measured[name][-1][1], name) for name in NAMES)
    place = 0.0
    for end, name in ends:
        n, errors = zip(*measured[name], strict=True)
        ours = name == "modicum"
        color = shade.final if ours else shade.drawn if "wide" not in name else shade.quiet
        marks = {"pydp_auto": "s", "opendp_tails": "^", "diffprivlib_wide": "v"}
        axes.loglog(n, errors, f"{marks.get(name, 'o')}-", ms=4, lw=2 if ours else 1.2, color=color)
        place = max(end, place * 3)
        axes.text(n[-1] * 1.25, place, NAMES[name], va="center", color=color)
    axes.set_yticks(
        [0.01, 0.1, 1, 10, 100, 1000], ["0.01 %", "0.1 %", "1 %", "10 %", "100 %", "1000 %"]
    )
    axes.minorticks_off()
    axes.set_xlabel("number of records times ε")
    axes.set_title("Relative error of the mean of incomes", loc="left", x=-0.15)
    return figure


if __name__ == "__main__":
    save(__file__, draw)
