"""``htppower profile``: the dry run of a profile, and running a command under its votes."""
