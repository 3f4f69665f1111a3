"""The votes that a session should cast: the profile in use, without the votes that the platform lacks.

May import what ``control`` may; of its rooms: none.

``precedence`` chooses among the session's own profile, its holds and the caps. ``plans`` leaves out votes that the
platform lacks.
"""
