"""Estimators: one statistic a file, each a generator of reads and draws."""
