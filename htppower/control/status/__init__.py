"""The status of a controller: as values, as JSON, and in a file.

May import what ``control`` may; of its rooms: clock, core, gate, ledger, plans, learning, pace, phases,
recording, event_bus, time and files.
"""
