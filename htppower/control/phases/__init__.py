"""The phases of a session as a host uses them: blocks, asynchronous blocks, tickets, functions and token streams.

May import what ``control`` may; of its rooms: core, gate and time.

``blocks`` has the phases themselves; every other module here is a way to begin and end these phases.
"""
