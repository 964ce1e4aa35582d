"""Kulesza, Suresh and Wang 2023: Mean estimation in the add-remove model of privacy."""
