"""The papers' algorithms, what theory says of errors, and statistics that users bring."""
