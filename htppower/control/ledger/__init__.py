"""The votes that are known to be in force: on each power config id, and for the whole process.

May import what ``control`` may; of its rooms: plans and core.

``ledger`` finds the difference between the votes in force and the votes that a session should have.
``process_settings`` combines the wishes of all sessions for the settings of the process.
"""
