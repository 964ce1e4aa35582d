"""Sequence of one release that is charged to a ledger."""

from drawing import Shade, arrow, box, canvas, save
from matplotlib.figure import Figure

PARTIES = {"analyst": 13, "curator": 42, "table": 65, "ledger": 88}
STEPS = (
    ("analyst", "curator", "1  question, cost, key"),
    ("curator", "curator", "2  check arguments and budget"),
    ("curator", "table", "3  read"),
    ("curator", "ledger", "4  charge the whole cost"),
    ("ledger", "curator", "5  it is on the disk"),
    ("curator", "curator", "6  draw the noise"),
    ("curator", "ledger", "7  record the release"),
    ("curator", "analyst", "8  the release"),
)


def draw(shade: Shade) -> Figure:
    height = 22 + 10 * len(STEPS)
    figure, axes = canvas(height=height)
    for name, x in PARTIES.items():
        axes.vlines(x, 10, height - 2, color=shade.data, lw=1)
        box(axes, x, 6, name, shade)
    for i, (start, end, text) in enumerate(STEPS):
        y = 20 + 10 * i
        color = shade.final if text[0] in "46" else shade.drawn
        left, right = PARTIES[start], PARTIES[end]
        if start == end:
            axes.plot([left], [y], "o", ms=6, color=color)
            axes.text(left + 3, y, text, va="center", color=color, fontsize=8.5)
        else:
            arrow(axes, (left, y), (right, y), color)
            axes.text(
                (left + right) / 2, y - 3, text, ha="center", va="center", color=color, fontsize=8.5
            )
    axes.text(
        2,
        height - 5,
        "A refusal comes at 2 or 4: before\nany random bit is drawn.",
        color=shade.quiet,
        fontsize=8.5,
        va="center",
    )
    return figure


if __name__ == "__main__":
    save(__file__, draw)
