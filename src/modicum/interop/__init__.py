"""Bridges to other libraries; nothing else needs them."""
