"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles and backends; never subscribers, hosts, review or the command line.
"""
