"""Huang, Liang and Yi 2021: Instance-optimal mean estimation under differential privacy."""
