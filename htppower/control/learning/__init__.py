"""What sessions learn and predict: sustain times, the time to a second power state, and begins of inferences.

May import what ``control`` may; of its rooms: core, time and files.

Few sessions have any of it: it is the ``pace`` of one. ``watch`` measures its gaps, and ``further`` how long its votes
were relaxed; each has ``learners`` for that, one for each profile. ``raise_ahead`` raises before an inference that is
predicted. What is learnt may be kept over a restart of the process: ``learnt_file`` reads and writes the file,
``learnt`` has what it holds, and sees to the writing.
"""
