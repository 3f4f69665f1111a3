"""The vendor's backend extension files: JSON with places and edits, its keys, and conversion from and to profiles.

May import votes, errors, rules and profiles.
"""
