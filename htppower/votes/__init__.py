"""Votes as frozen values in the vendor's words: corners, options, vote sets, native codes. They check nothing.

May import nothing else of htppower.
"""
