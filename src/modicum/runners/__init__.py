"""Runners: they carry out an estimator's steps on real data, or replay given outcomes."""
