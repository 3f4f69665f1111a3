"""Learns from the gaps of a session how long its votes should stay up.

The code uses only integers, no clock and no thread.

May import votes, errors, rules, events and profiles.
"""
