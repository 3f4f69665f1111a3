"""Learns how long the votes of an idle session stay up, from its gaps. Integers only: no clock and no thread.

May import votes, errors, rules, events and profiles.
"""
