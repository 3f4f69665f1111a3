"""The JSON Schemas of the files that people write. An editor uses them to complete and check these files.

It may import all that ``review`` may import.
"""
