"""What a host runs its inferences by: ``with`` blocks, those of coroutines, tickets, and functions and token streams.

May import what ``control`` may; of its rooms: core, gate and time.

``blocks`` has the phases themselves, and each of the others begins and ends one.
"""
