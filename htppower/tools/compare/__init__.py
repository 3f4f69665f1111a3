"""``htppower compare``: two measurements side by side: where they differ, what makes them comparable, what to try.

May import everything but the command line. An inference host does not import this package.
"""
