"""What sessions learn and predict: sustain times, the time until a second power state, and the next inference.

May import what ``control`` may; of its rooms: core, gate, plans, time and files.

Few sessions learn anything. ``learning`` holds all parts of one session: ``gap_timer`` measures the gaps between its
inferences, ``second_state`` knows when its lowered votes relax to the second power state, and ``raise_ahead`` raises
its votes before a predicted inference. ``learners`` learns one time, with one learner for each profile. ``learnt``
keeps what sessions have learnt when the process restarts, in a ``learnt_file``.
"""
