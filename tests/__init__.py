"""A package, so that another distribution's ``tests`` does not take its place."""
