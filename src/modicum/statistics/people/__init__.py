"""Persons with all their rows."""
