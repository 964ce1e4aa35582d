"""Many groups, which find together what is alike."""
