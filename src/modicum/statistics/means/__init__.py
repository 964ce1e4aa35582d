"""Means, sums, counts, ratios and moments of one column."""
