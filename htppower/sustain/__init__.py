"""How long an idle session's votes stay up where that is learnt from its gaps: integers, no clock and no thread.

May import votes, errors, rules, events and profiles.
"""
