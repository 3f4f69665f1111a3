"""Clock, alarms and workers of a controller; the only importer of APScheduler.

May import what ``control`` may.
"""
