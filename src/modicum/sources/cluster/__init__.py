"""Engines whose rows stay where they are: only summaries move."""
