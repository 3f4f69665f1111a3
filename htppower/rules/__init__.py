"""The rules of the votes: which votes are valid on which platform, and how much power they cost.

May import errors and votes.
"""
