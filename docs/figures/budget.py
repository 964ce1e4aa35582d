"""A budget over a year: what a plan of releases spends, added up exactly."""

from fractions import Fraction

from drawing import WIDTH, Shade, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import modicum as mo

YEAR = mo.pure(3)
MONTHLY, QUARTERLY, YEARLY = (mo.pure(each) for each in ("0.1", "0.2", "0.5"))


def spent() -> list[Fraction]:
    """After each month."""
    total, found = Fraction(0), [Fraction(0)]
    for month in range(1, 13):
        total += MONTHLY.amount
        total += QUARTERLY.amount * (month % 3 == 0)
        total += YEARLY.amount * (month == 12)
        found.append(total)
    return found


def draw(shade: Shade) -> Figure:
    figure, axes = plt.subplots(figsize=(WIDTH, 2.7))
    figure.subplots_adjust(left=0.09, right=0.97, top=0.89, bottom=0.16)
    steps = [float(each) for each in spent()]
    axes.step(range(13), steps, where="post", color=shade.drawn, lw=1.8)
    axes.axhline(float(YEAR.amount), color=shade.final, lw=1.4)
    axes.text(
        0.1, float(YEAR.amount) + 0.08, f"budget of the year: ε = {YEAR.amount}", color=shade.final
    )
    rest = float(YEAR.amount) - steps[-1]
    axes.annotate(
        "",
        (12, float(YEAR.amount)),
        (12, steps[-1]),
        arrowprops={"arrowstyle": "<->", "color": shade.quiet},
    )
    axes.text(
        11.8,
        steps[-1] + rest / 2,
        f"kept for other questions: {rest:.1f}",
        ha="right",
        va="center",
        color=shade.quiet,
    )
    axes.text(1.1, 0.75, f"monthly: {float(MONTHLY.amount)}", color=shade.drawn, ha="left")
    axes.text(3.2, 1.35, f"quarterly: {float(QUARTERLY.amount)} more", color=shade.drawn, ha="left")
    axes.text(
        11.8,
        steps[12] - 0.25,
        f"yearly: {float(YEARLY.amount)} more",
        color=shade.drawn,
        ha="right",
    )
    axes.set(xlim=(0, 12.2), ylim=(0, float(YEAR.amount) + 0.4), xticks=range(13))
    axes.set_xlabel("month")
    axes.set_title("ε spent on one set of people", loc="left", x=-0.07)
    return figure


if __name__ == "__main__":
    save(__file__, draw)
