"""The subscribers that ship with htppower. Each is imported only where it is used.

May import control and what control may.
"""
