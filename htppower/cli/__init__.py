"""The command line: one file or folder a command. Nothing else prints.

May import everything.
"""
