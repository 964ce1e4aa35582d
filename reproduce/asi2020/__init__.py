"""Asi and Duchi 2020: Instance-optimality via approximate inverse sensitivity mechanisms."""
