"""Estimators: one statistic a file, each a generator of needs and draws."""
