"""The measured clock and power: readings from a library, a file or a sensor, taken on a thread of their own.

May import what ``control`` may; of its rooms: time and controller.

``reading`` has the values, ``reader`` takes them once a period, and each other module is a source of readings.
"""
