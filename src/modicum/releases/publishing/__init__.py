"""Tables for print and for other programs, made of numbers that are released already."""
