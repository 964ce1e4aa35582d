"""Files: what they are, and what their cells say."""
