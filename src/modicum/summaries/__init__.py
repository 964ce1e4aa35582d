"""Mergeable reductions of a column to exact integers; the only thing estimators learn of data."""
