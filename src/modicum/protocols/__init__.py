"""Protocols without a curator."""
