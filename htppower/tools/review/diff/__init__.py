"""Diff: the changes between two sets of resolved profiles, by their effect on power, latency and timing."""
