"""Protocols for data that nobody may collect: each message is private, or their sum is."""
