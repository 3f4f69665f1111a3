"""Settings of inference runtimes: profiles written as settings, and settings read as profiles. One file per runtime.

May import votes, errors, rules, events, profiles, hosts and extensions; never backends.
"""
