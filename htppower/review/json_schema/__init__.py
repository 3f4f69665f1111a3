"""The JSON Schemas of the files that people write, by which an editor completes and checks them.

May import what ``review`` may.
"""
