"""Holds and caps: another profile for one session, and a limit on all.

May import what ``control`` may; of its rooms: core, plans and time.

``holds`` has them as their users keep them. ``claims`` notes which there are, and has the sessions follow.
"""
