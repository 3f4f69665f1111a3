"""The gate of a session: which phases run, and when an idle session lowers its votes.

May import what ``control`` may; of its rooms: plans, learning and time.

``gate`` lets a phase begin without a call. A running phase holds a token (``tokens``). The ``sustain_timer`` knows the
deadline of an idle session's votes and arms the alarm for it; ``desired`` of ``core.state_machine`` decides whether the
votes are lowered. ``counts`` tells how many inferences run and have begun, and ``cold_starts`` how many waited for a
call. ``cpu_latency`` limits the wake-up latency of the CPUs.
"""
