"""Text that holds amounts of money: the lines that errors show read it."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum
from modicum.errors import UnsupportedData

CELLS = ["1,234.50", "$80.00", "12", None, "1e3", "-$5", "n/a"]
VALUES = [1234.5, 80.0, 12.0, np.nan, 1000.0, -5.0, np.nan]
TABLES = {
    "pandas": lambda: pd.DataFrame({"cost": CELLS}),
    "polars": lambda: pl.DataFrame({"cost": CELLS}),
    "pyarrow": lambda: pa.table({"cost": CELLS}),
    "duckdb": lambda: duckdb.from_arrow(pa.table({"cost": CELLS})),
}


def shown(table: object) -> str:
    with pytest.raises(UnsupportedData) as caught:
        modicum.mean(table, "cost", epsilon=1)
    text = str(caught.value)
    assert "'1,234' or '$5' become missing" in text
    return text.partition(", and numbers by ")[2].partition(", unless a comma")[0]


@pytest.mark.parametrize("engine", TABLES)
def test_the_line_of_an_error_reads_money(engine: str) -> None:
    table = TABLES[engine]()
    line = shown(table)
    if engine == "polars":
        found = table.select(eval(line, {"polars": pl}))["cost"].to_list()
    elif engine == "duckdb":
        found = [row[0] for row in table.project(line).fetchall()]
    else:
        found = eval(line, {"pandas": pd, "t": table}).tolist()
    np.testing.assert_array_equal(np.array(found, float), VALUES)


def test_a_column_of_a_parquet_file_has_a_line(tmp_path) -> None:
    path = tmp_path / "visits.parquet"
    table = TABLES["polars"]()
    table.write_parquet(path)
    line = shown(path)
    np.testing.assert_array_equal(
        table.select(eval(line, {"polars": pl}))["cost"].to_numpy(), VALUES
    )
    with pytest.raises(UnsupportedData, match=r"polars\.scan_parquet\(FILE\)\.with_columns\("):
        modicum.mean(path, "cost", epsilon=1)


def test_the_line_for_an_array() -> None:
    x = np.array(["1,234.50", "$5"])
    with pytest.raises(UnsupportedData) as caught:
        modicum.mean(x, epsilon=1)
    line = str(caught.value).partition(", and numbers by ")[2].partition(", unless")[0]
    assert eval(line, {"pandas": pd, "x": x}).tolist() == [1234.5, 5.0]
