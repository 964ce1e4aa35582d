"""Statistics of several columns: mean vectors, covariances, components, regressions."""
