"""The files that a controller writes: how they are written in the background, replaced as a whole, and locked.

May import what ``control`` may; of its rooms: time.
"""
