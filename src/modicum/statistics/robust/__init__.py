"""Trimmed means and other locations, by inverse sensitivity."""
