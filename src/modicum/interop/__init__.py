"""Bridges to other libraries, none of which is needed by anything else."""
