"""Persons with all their rows: limits on what one adds, and the mean of all rows."""
