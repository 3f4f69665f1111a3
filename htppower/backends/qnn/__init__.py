"""The vendor's library, bound with ctypes: found, loaded, its device opened, its calls made.

Every version of the library is bound by the same structs and functions, in ``abi``; ``device`` refuses one whose
interface is older than these. ``tests/vendor/all_versions.py`` holds them against five versions.

May import what ``backends`` may.
"""
