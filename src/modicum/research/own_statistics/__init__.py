"""Statistics that a user defines."""
