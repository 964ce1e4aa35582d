"""Figures and tables of the papers behind the library, redrawn with the library's exact laws."""
