"""Tables of engines in memory, or that engines read."""
