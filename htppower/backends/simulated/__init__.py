"""The simulated HTP: it answers as the vendor's library does, and aggregates votes as the DSP does.

May import what ``backends`` may.
"""
