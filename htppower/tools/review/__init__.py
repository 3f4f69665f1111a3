"""Tools for people who write and review profiles: lint, diff, explain, dry run, vote tests, pictures, JSON schemas.

May import everything but the command line. An inference host does not import this package.
"""
