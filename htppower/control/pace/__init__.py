"""A pace: a session's inferences at a rate, under the lowest profile that keeps it.

May import what ``control`` may; of its rooms: claims, core, phases, plans and time.

``slots`` and ``chooser`` are pure: when each inference begins and must end, and which profile is enough. ``ladder`` has
the profiles to choose among. ``pacing`` holds the state of one pace, and ``pace`` its handle and its inferences.
"""
