"""A budget that outlives the process: accounts in a file or on a server, one chain of entries each.

A charge appends an entry under a lock. The draw follows only after that entry is on the disk.
"""
