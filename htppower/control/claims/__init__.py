"""Holds and caps: another profile for one session, and a limit on all.

May import what ``control`` may; of its rooms: core, plans and time.

``holds`` has their handles. ``claims`` keeps the list of them, and has the sessions change their profiles.
"""
