"""The vendor's backend extension files: JSON with places and edits, its keys, profiles from it and to it.

May import votes, errors, rules and profiles.
"""
