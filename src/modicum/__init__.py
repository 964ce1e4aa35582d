"""Instance-optimal differentially private statistics."""

__version__ = "0.1.0"
