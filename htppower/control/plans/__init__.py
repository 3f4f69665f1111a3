"""What a session should cast: the profile that counts, and the votes that the platform has of it.

May import what ``control`` may; of its rooms: none.

``precedence`` chooses among the session's own profile, its holds and the caps. ``plans`` leaves out what the platform
lacks.
"""
