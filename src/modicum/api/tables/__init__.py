"""Whole tables: what several releases together say of one."""
