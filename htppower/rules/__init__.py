"""The rules of the votes: what is valid on which platform, and what a vote costs in power.

May import errors and votes.
"""
