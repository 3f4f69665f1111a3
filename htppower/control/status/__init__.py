"""The status of a controller: as values, as JSON, and in a file.

May import what ``control`` may; of its rooms: core, learning, phases, recording, time and files.
"""
