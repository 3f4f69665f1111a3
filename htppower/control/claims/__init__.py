"""Holds and caps: another profile for one session, and a limit on all.

May import what ``control`` may; of its rooms: core, plans and time.

``holds`` has their handles. ``claims`` has the list of all holds and caps, and lets the sessions change their profiles.
"""
