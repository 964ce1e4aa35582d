"""Records as text that reads back complete."""
