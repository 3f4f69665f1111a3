"""Modes: a session whose inferences each name the mode that they need; the highest mode in flight counts.

May import what ``control`` may; of its rooms: core, phases and plans.
"""
