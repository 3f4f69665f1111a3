"""Opens files that other programs wrote, packed or not, up to a limit, and recognises their kind. Needs no numpy.

May import errors and profiles.
"""
