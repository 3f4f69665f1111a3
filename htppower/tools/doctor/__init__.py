"""``htppower doctor``: the facts of this machine, the answers of the library, and the most likely cause of a failure.

May import everything but the command line. An inference host does not import this package.
"""
