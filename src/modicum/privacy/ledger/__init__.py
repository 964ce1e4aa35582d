"""A budget that outlives the process: accounts in a file or on a server, one chain of entries each.

Who charges appends an entry under a lock, and draws only after that entry is on the disk.
"""
