"""The JSON Schemas of the files that people write. An editor uses them to complete and check these files.

May import what ``review`` may.
"""
