"""Clock, alarms, workers and locks; the only importer of APScheduler.

May import what ``control`` may; of its rooms: none.

``base`` is the protocol of a time, and arms alarms. ``scheduler`` is the system's time, and ``workers`` run actions on
threads. ``locks`` lists the locks, and what may be done under each.
"""
