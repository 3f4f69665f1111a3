"""Caps that something outside sets and lifts: the temperature, and what the system wishes.

May import what ``control`` may; of its rooms: core, claims, time and controller.
"""
