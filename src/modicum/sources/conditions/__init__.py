"""Conditions on rows, and columns made of others."""
