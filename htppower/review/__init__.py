"""Tools for people who write and review profiles: lint, diff, explain, dry run, vote tests, pictures, JSON schemas.

It may import everything except the command line. An inference host imports nothing of it.
"""
