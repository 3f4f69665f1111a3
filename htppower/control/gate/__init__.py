"""The gate of a session: which phases run, and when an idle session lowers its votes.

May import what ``control`` may; of its rooms: plans, learning and time.

``gate`` lets a phase begin without a call. A running phase holds a token (``tokens``); the ``sustain_timer`` lowers the
votes of an idle session; ``cold_starts`` counts the inferences that waited for a call.
"""
