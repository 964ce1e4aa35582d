"""Any table or array, read in chunks.

The file of each engine registers what opens its tables; none imports its engine before it is used.
"""
