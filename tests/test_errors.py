"""Titles in the singular."""

import pandas as pd

import modicum as mo

TABLE = pd.DataFrame({"event": list("abcd") * 50, "one": ["x"] * 200})


def test_titles_of_one_and_of_several() -> None:
    curator = mo.Curator(TABLE, budget=mo.pure(90))
    labels = curator.crosstab("event", keys=list("abcd"), epsilon=9)
    assert str(labels).startswith("count of rows by event: 4 labels\n")
    assert "count of rows by event: 4 labels" in labels.to_html()
    alone = curator.crosstab("one", keys=["x"], epsilon=9)
    assert str(alone).startswith("count of rows by one: 1 label\n")
    assert repr(alone) == "Crosstab(count, 1 cell of ('one',))"
    both = curator.crosstab("event", "one", keys={"event": list("ab"), "one": ["x"]}, epsilon=9)
    assert str(both).startswith("count of rows: 2 cells of event × one (2 × 1)\n")
    assert str(mo.plan.count(n=1, epsilon=1)).startswith("plan for a count of 1 row")
