"""Tools for people who write and review profiles: lint, diff, explain, dry run, vote tests, advice, comparison.

May import what doctor may. An inference host does not import this package.
"""
