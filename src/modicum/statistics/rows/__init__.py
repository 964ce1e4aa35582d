"""The rows of the table of estimators, by family."""
