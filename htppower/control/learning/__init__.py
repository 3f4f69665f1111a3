"""What sessions learn and predict: sustain times, the time until a second power state, and the next inference.

May import what ``control`` may; of its rooms: core, gate, plans, time and files.

Few sessions learn anything. ``learning`` holds all parts of one session, and decides when its votes relax to the
second power state. ``gap_timer`` measures the gaps between its inferences, and ``raise_ahead`` raises its votes before
a predicted inference. ``learners`` learns one time, with one learner for each profile. ``learnt`` keeps what sessions
have learnt over a restart of the process.
"""
