"""Holds, paces and caps: another profile for one session, and a limit on all.

May import what ``control`` may; of its rooms: core, plans and time.

``holds`` has the handles of holds and caps. ``claims`` has the list of all, and changes the profiles of
sessions.
"""
