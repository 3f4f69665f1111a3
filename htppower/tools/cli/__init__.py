"""The command line: a file or folder for each command. No other package prints.

May import everything.
"""
