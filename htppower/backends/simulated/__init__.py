"""The simulated HTP: it answers like the vendor's library, and aggregates votes like the DSP.

May import what ``backends`` may.
"""
