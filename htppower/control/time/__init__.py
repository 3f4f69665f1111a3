"""Clock, alarms, and threads that run actions; the only importer of APScheduler.

May import what ``control`` may; of its rooms: core.

``base`` is what the controller asks of a time, and ``scheduler`` the system's. ``alarms`` are armed by it; ``workers``,
``thread_pool`` and ``side_by_side`` run actions on threads. ``fair_lock`` is one that threads get in their order.
"""
