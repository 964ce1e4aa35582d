"""Statistics of the order of values: quantiles, extremes, histograms."""
