"""Tools for people who write and review profiles: lint, diff, explain, dry run, vote tests, pictures, JSON schemas.

May import everything but the command line; an inference host imports nothing of it.
"""
