"""The steps of an estimator, and what carries them out: on data, or by replaying outcomes."""
