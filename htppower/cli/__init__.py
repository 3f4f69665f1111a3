"""The command line: a file or folder for each command. Nothing else prints.

May import everything.
"""
