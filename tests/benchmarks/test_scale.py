"""The plan for 1e12 rows, on a small scale."""

from benchmarks.scale import GROWN, HEADER, simulate


def test_merged_parts_are_one_pass() -> None:
    row, large = simulate("1", parts=9, rows=5000)
    simulated, grown = dict(zip(HEADER, row, strict=True)), dict(zip(GROWN, large, strict=True))
    assert simulated["equal to one pass"] == "yes"
    assert float(grown["rows"]) >= 1e12
    assert all(int(size.replace(",", "")) < 2**15.5 for size in grown["rows kept"].split())
