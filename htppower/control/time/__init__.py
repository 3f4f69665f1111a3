"""Clock, alarms, threads that run actions, and locks; the only importer of APScheduler.

May import what ``control`` may; of its rooms: none.

``base`` is what the controller asks of a time, and ``scheduler`` the system's. ``alarms`` are armed by it; ``workers``,
``thread_pool`` and ``side_by_side`` run actions on threads. ``locks`` says which locks there are, in which order they
are taken, and what may be done under each; ``fair_lock`` is one that threads get in their order. ``interrupts`` sees to
what an exception such as Ctrl-C leaves.
"""
