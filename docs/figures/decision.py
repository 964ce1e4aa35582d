"""Decision tree: from a question to the function that answers it."""

from drawing import Shade, box, canvas, save
from matplotlib.figure import Figure

TREE = (
    ("What is typical\nin a column?", (
        ("it has to add up to a total", "mean"),
        ("the person in the middle", "median"),
        ("some values are errors", "trimmed_mean"),
        ("values differ by factors", "geometric_mean"),
    )),
    ("How much,\nhow many?", (
        ("a total", "sum"),
        ("rows, or values", "count"),
        ("each label", "value_counts"),
        ("labels by labels", "crosstab"),
        ("each group", "group_by"),
    )),
    ("How is it\ndistributed?", (
        ("its ends", "min, max"),
        ("its spread; heavy tails", "std; iqr"),
        ("several points", "quantiles"),
        ("counts in bins", "histogram"),
        ("shares below points", "cdf"),
    )),
    ("How do columns\ngo together?", (
        ("a sum over a sum", "ratio"),
        ("means of many columns", "mean_vector"),
        ("directions, correlations", "pca, covariance"),
        ("one as a function of others", "linear_regression"),
    )),
    ("I do not know yet", (("every column at once", "describe"),)),
)  # fmt: skip

LINE = 7.2


def draw(shade: Shade) -> Figure:
    height = LINE * (sum(len(answers) for _, answers in TREE) + 0.7 * len(TREE)) + 2
    figure, axes = canvas(height=height)
    top = 4.0
    for question, answers in TREE:
        middle = top + LINE * (len(answers) - 1) / 2
        box(axes, 15, middle, question, shade, fontsize=8.5)
        for i, (words, name) in enumerate(answers):
            y = top + LINE * i
            axes.plot([29, 32, 32, 34], [middle, middle, y, y], color=shade.data, lw=1, zorder=0)
            axes.text(35, y, words, va="center", fontsize=8.5)
            axes.text(
                76, y, name, va="center", fontsize=8.5, family="DejaVu Sans Mono", color=shade.final
            )
        top += LINE * (len(answers) + 0.7)
    return figure


if __name__ == "__main__":
    save(__file__, draw)
