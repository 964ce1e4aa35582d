"""Exact numbers: lattices, secret randomness, and samplers whose laws hold without rounding."""
