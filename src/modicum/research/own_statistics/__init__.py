"""Statistics that users bring: by a score, by level boundaries, or by their local sensitivities."""
