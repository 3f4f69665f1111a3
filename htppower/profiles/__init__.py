"""Profiles and power states: the values, and how their YAML files are found, read, extended and checked.

May import votes, errors, rules and events; never backends.
"""
