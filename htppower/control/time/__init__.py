"""Clock, alarms, workers and locks; the only importer of APScheduler.

May import what ``control`` may; of its rooms: none.

``base`` is what the controller asks of a time, and ``scheduler`` the system's. ``alarms`` are armed by it; ``workers``
run actions on threads. ``locks`` says which locks there are, and what may be done under each.
"""
