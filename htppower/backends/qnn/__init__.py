"""The vendor's library, bound with ctypes: found, loaded, its device opened, its calls made.

May import what ``backends`` may.
"""
