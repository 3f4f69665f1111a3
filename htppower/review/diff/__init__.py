"""Diff: what changes between two sets of resolved profiles, by its effect on power, latency and timing."""
