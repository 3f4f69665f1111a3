"""What is known to be in force: on each power config id, and in the process.

May import what ``control`` may; of its rooms: plans and core.

``ledger`` tells the difference between that and the votes that a session should have. ``process_settings`` combines the
wishes of all sessions for the settings of the process.
"""
