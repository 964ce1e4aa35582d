"""Estimators: one statistic a file, in folders by family, each a generator of reads and draws."""
