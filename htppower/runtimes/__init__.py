"""Settings of inference runtimes: a profile as what each takes, and that read back. One file a runtime.

May import votes, errors, rules, events, profiles and extensions; never backends.
"""
