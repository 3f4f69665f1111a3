"""Recordings: when each inference of a controller began and ended, in files for ``htppower trace`` and ``tune``.

May import what ``control`` may; of its rooms: clock, core, gate, plans, learning, time and files.

``recorder`` queues the inferences that end, and lets ``trace_files`` write them in the background.
"""
