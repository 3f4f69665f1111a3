"""``htppower profile``: the dry run of a profile, and a command that is run under its votes."""
