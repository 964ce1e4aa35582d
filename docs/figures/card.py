"""Anatomy of a summary: the lines of a release, and what each says."""

from drawing import Shade, arrow, canvas, curator, incomes, save
from matplotlib.figure import Figure

MEANINGS = (
    "the statistic, the column and the answer",
    "holds the truth in 95 of 100 releases, if rare values are no further out",
    "what was spent, and who is protected against which change",
    "between which ends values count, found privately or given",
    "all that was spent so far, and of which budget",
)


def shown() -> list[str]:
    release = curator(incomes(), "the card").mean(epsilon=1)
    return str(release).splitlines()[: len(MEANINGS) - 1]


def main() -> None:
    lines = [*shown(), "  account        ε = 1 of ε = 10 spent"]
    words = [(line[:17].strip(), line[17:]) for line in lines[1:]]
    entries = [("", lines[0]), *words]

    def draw(shade: Shade) -> Figure:
        figure, axes = canvas(height=76)
        for i, ((name, text), said) in enumerate(zip(entries, MEANINGS, strict=True)):
            y = 6 + 15 * i
            weight = "bold" if not name else "normal"
            axes.axhspan(y - 4, y + 3.4, color=shade.panel, lw=0)
            mono = {"family": "DejaVu Sans Mono", "va": "center", "fontsize": 8}
            axes.text(2, y, name, color=shade.drawn, **mono)
            axes.text(2 if not name else 20, y, text, weight=weight, **mono)
            arrow(axes, (6, y + 7.5), (6, y + 3.6), shade.final)
            axes.text(8, y + 7, said, va="center", fontsize=8, color=shade.final)
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
