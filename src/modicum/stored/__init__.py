"""Records as text that reads back complete, and the collector that rests while many are made."""
