"""Subscribers that ship: each is imported only where it is used.

May import control and what control may.
"""
