"""The environment of a host on a device: the folders of the skels, and variables in the form of a shell or a file.

May import errors, rules and backends.
"""
