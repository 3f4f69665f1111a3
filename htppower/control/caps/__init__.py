"""Caps that follow the temperature of the device, or the power profile of the system.

May import what ``control`` may; of its rooms: core, claims, time and controller.
"""
